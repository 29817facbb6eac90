import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { alerts } from '../dashboards/alerts.ts'
import { generatedFiles, readme, withList } from '../dashboards/generated.ts'

test.each(Array.from(generatedFiles(), ([path, text]) => ({ name: basename(path), path, text })))(
  '$name is what `pnpm --dir tools/docs write dashboards` writes',
  ({ path, text }) => {
    expect(readFileSync(path, 'utf8')).toBe(text)
  },
)

test('the list of the README is what `pnpm --dir tools/docs write dashboards` writes', () => {
  const squeezed = (text: string): string => text.replaceAll(/ {2,}|-{3,}/g, ' ')
  const text = readFileSync(readme, 'utf8')
  expect(squeezed(text)).toBe(squeezed(withList(text)))
})

test('the guide names every alert, since an operator may know only the name', () => {
  const page = readFileSync(new URL('../../../docs/guide/metrics.md', import.meta.url), 'utf8')
  expect(alerts.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
})

test('no alert names a metric in a way that Prometheus cannot read', () => {
  expect(alerts.filter(({ action }) => /tokenlane\.\w/.test(action))).toEqual([])
})
