import { expect, test } from 'vitest'
import { homePage } from './home.ts'

const code = '```js\n// before\n1\n```\n\n```ts\n// after\n2\n```\n'

test('the home page is the README, with its title and first line in the head and its code first', () => {
  const page = homePage(`# Tokenlane\n\n**The right\ntoken.**\n\nFor services.\n\n${code}\nMore.\n`)
  expect(page).toMatch(/^---\nlayout: home\n/)
  expect(page).toContain('(not on npm yet)')
  expect(page.split('---\n\n').at(-1)).toBe(
    `<div class="before-after">\n\n${code}\n</div>\n\nFor services.\n\n\nMore.\n`,
  )
})

test('a README that begins in another way is an error', () => {
  expect(() => homePage('Hello')).toThrow('README.md must begin with')
})

test('a README without the code before and after is an error', () => {
  expect(() => homePage('# Tokenlane\n\n**The right token.**\n\nFor services.\n')).toThrow('before and after')
})
