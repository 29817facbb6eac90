// Names of metrics in PromQL, checked against the table of instruments.
import { instruments, type InstrumentName } from '../src/instruments.ts'

/** Suffixes that the Collector's Prometheus exporter adds to names. The exporter of the JavaScript SDK omits them. */
const unitSuffixes: Readonly<Record<string, string>> = { s: '_seconds', d: '_days', '1': '_ratio' }

/**
 * Returns a selector that matches the metric under the names that either exporter gives it.
 *
 * @param part `bucket`, `sum` or `count` of a histogram.
 */
export function metric(name: InstrumentName, labels = '', part?: 'bucket' | 'sum' | 'count'): string {
  const { kind, unit } = instruments[name]
  const base = name.replaceAll(/[^a-z]/g, '_')
  const suffix = unitSuffixes[unit]
  // after the unit come `_total` of a counter, or the part of a histogram
  const end = kind === 'counter' ? '_total' : part === undefined ? '' : `_${part}`
  if (suffix === undefined) return `${base}${end}${labels === '' ? '' : `{${labels}}`}`
  return `{__name__=~"${base}(${suffix})?${end}"${labels === '' ? '' : `, ${labels}`}}`
}

/**
 * Returns by how much a counter grew in `span`, such as `5m`, for each series. `increase` alone counts from the first value
 * that Prometheus saw, and the series of a rare event begins with the first one: a series that is younger than `span` counts
 * in full.
 */
export function growth(counter: string, span: string): string {
  return `((${counter} unless ${counter} offset ${span}) or increase(${counter}[${span}]))`
}

/** Returns the quantile of a histogram over the last five minutes, by the given labels. */
export function quantile(q: number, name: InstrumentName, by: string, labels = ''): string {
  return `histogram_quantile(${q}, sum by (le, ${by}) (${growth(metric(name, labels, 'bucket'), '5m')}))`
}
