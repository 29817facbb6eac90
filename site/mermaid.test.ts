import { expect, test } from 'vitest'
import { drawn } from './mermaid.ts'

test('a diagram becomes an SVG that loads nothing from elsewhere', () => {
  const svg = drawn('flowchart LR\n  accTitle: One leads to two\n  a["one"] --> b["two"]')
  expect(svg).toMatch(/^<svg/)
  expect(svg).toContain('one')
  expect(svg).toContain('role="img" aria-label="One leads to two"')
  expect(svg).not.toMatch(/https?:\/\/(?!www\.w3\.org)/)
})

test('a diagram leaves colours and fonts to the page', () => {
  expect(drawn('flowchart LR\n  accTitle: One leads to two\n  a --> b')).not.toMatch(/<style| style="/)
})

test('a diagram without a title for readers who cannot see it is an error', () => {
  expect(() => drawn('flowchart LR\n  a --> b')).toThrow('a diagram needs a line "accTitle: …"')
})
