import { expect, test } from 'vitest'
import { drawChart } from '../src/index.ts'

const spec = {
  data: { values: [{ name: 'a', count: 3 }] },
  mark: 'bar',
  encoding: { x: { field: 'count', type: 'quantitative' }, y: { field: 'name', type: 'nominal' } },
} as const

test('a chart is an SVG that loads nothing, says what it shows, and follows the colour scheme', async () => {
  const svg = await drawChart(spec, 'how often "a" happened')
  expect(svg).toMatch(/^<svg role="img" aria-label="how often &quot;a&quot; happened"/)
  expect(svg).toContain('prefers-color-scheme:dark')
  expect(svg).toContain('var(--ink)')
  expect(svg.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, '')).not.toMatch(/https?:/)
})
