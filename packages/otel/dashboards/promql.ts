// Names of metrics in PromQL, checked against the table of instruments.
import { instruments, type InstrumentName } from '../src/instruments.ts'

/** What the Collector's Prometheus exporter adds to a name; the exporter of the JavaScript SDK adds nothing. */
const unitSuffixes: Readonly<Record<string, string>> = { s: '_seconds', d: '_days', '1': '_ratio' }

/**
 * Returns a selector that finds the metric whichever exporter named it.
 *
 * @param part `bucket`, `sum` or `count` of a histogram.
 */
export function metric(name: InstrumentName, labels = '', part?: 'bucket' | 'sum' | 'count'): string {
  const { kind, unit } = instruments[name]
  const base = name.replaceAll(/[^a-z]/g, '_')
  const suffix = unitSuffixes[unit]
  // the Collector gives a ratio of a gauge its suffix, a counter `_total`
  const end = kind === 'counter' ? '_total' : part === undefined ? '' : `_${part}`
  if (suffix === undefined) return `${base}${end}${labels === '' ? '' : `{${labels}}`}`
  return `{__name__=~"${base}(${suffix})?${end}"${labels === '' ? '' : `, ${labels}`}}`
}

/** Returns the quantile of a histogram over the last five minutes, by the given labels. */
export function quantile(q: number, name: InstrumentName, by: string, labels = ''): string {
  return `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric(name, labels, 'bucket')}[5m])))`
}
