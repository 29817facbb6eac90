import { expect, test } from 'vitest'
import { drawn } from './mermaid.ts'

test('a diagram becomes an SVG that loads nothing from elsewhere', () => {
  const svg = drawn('flowchart LR\n  a["one"] --> b["two"]')
  expect(svg).toMatch(/^<svg/)
  expect(svg).toContain('one')
  expect(svg).not.toMatch(/https?:\/\/(?!www\.w3\.org)/)
})

test('a diagram leaves colours and fonts to the page', () => {
  expect(drawn('flowchart LR\n  a --> b')).not.toMatch(/<style| style="/)
})
