import { expect, test } from 'vitest'
import { homePage } from './home.ts'

test('the home page is the README, with its title and first line in the head', () => {
  const page = homePage('# Tokenlane\n\n**The right\ntoken.**\n\nFor services.\n')
  expect(page).toMatch(/^---\nlayout: home\n/)
  expect(page).toMatch(/---\n\nFor services\.\n$/)
})

test('a README that begins in another way is an error', () => {
  expect(() => homePage('Hello')).toThrow('README.md must begin with')
})
