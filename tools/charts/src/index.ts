export { drawTerminal, foldLine, type PrintedLine, type Screen } from './terminal.ts'
import * as vega from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'

/**
 * The colours of lines and bars: of Okabe and Ito, which colour-blind readers can tell apart, without the two that are
 * too pale on white.
 */
export const colours: readonly string[] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#999999']

/** What is ours, as bars and as text. Written into the SVG as a variable, since text of that colour needs a lighter one in the dark. */
export const ours = '#00795a'

/** What a page decides, in the colours of light pages; written into the SVG as variables. */
const ink = '#1f2329'
const faint = '#d0d5dc'
const style =
  `<style>svg{--ink:${ink};--faint:${faint};--ours:${ours}}` +
  `@media (prefers-color-scheme:dark){svg{--ink:#e6e9ee;--faint:#454c57;--ours:#34d3a6}}</style>`

const config = {
  background: 'transparent',
  font: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  view: { stroke: null },
  range: { category: [...colours] },
  axis: {
    labelColor: ink,
    titleColor: ink,
    gridColor: faint,
    domainColor: faint,
    tickColor: faint,
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 'normal',
  },
  legend: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, orient: 'bottom' },
  title: { color: ink, subtitleColor: ink, fontSize: 14, anchor: 'start' },
  header: { labelColor: ink, titleColor: ink },
  text: { color: ink },
} as const

/**
 * Returns a chart as an SVG that follows the reader's colour scheme and loads nothing.
 *
 * @param spec A Vega-Lite chart without colours of its own.
 * @param label What the chart shows, for readers who cannot see it.
 */
export async function drawChart(spec: TopLevelSpec, label: string): Promise<string> {
  const { spec: compiled } = compile({ ...spec, config: config as never })
  const view = new vega.View(vega.parse(compiled), { renderer: 'none', logLevel: vega.Warn })
  const svg = await view.toSVG()
  view.finalize()
  return svg
    .replace(/^<svg/, `<svg role="img" aria-label="${label.replaceAll('"', '&quot;')}"`)
    .replace(/>/, `>${style}`)
    .replaceAll(`"${ink}"`, '"var(--ink)"')
    .replaceAll(`"${faint}"`, '"var(--faint)"')
    .replaceAll(`"${ours}"`, '"var(--ours)"')
}
