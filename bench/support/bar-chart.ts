/** One bar: what it stands for, and how long it is. */
export interface Bar {
  readonly who: string
  readonly value: number
}

interface Look {
  /** How the figure beside a bar is written, as d3 does: `,` or `.2f`. */
  readonly format?: string
  /** Bars as long as the logarithm, for figures that are thousands of times apart. */
  readonly logarithmic?: boolean
}

/**
 * Returns a chart of horizontal bars, in which those of Tokenlane stand out, each with its figure.
 *
 * @param title Lines of at most 40 characters, so that the chart can be read on a phone.
 * @throws Error when a figure is missing: the table has changed.
 */
export function barChart(
  title: string,
  values: readonly Bar[],
  { format = ',', logarithmic = false }: Look = {},
): object {
  for (const { who, value } of values)
    if (Number.isNaN(value)) throw new Error(`${title}: no figure for ${who}`)
  const scale = logarithmic ? { scale: { type: 'symlog' } } : {}
  const encoding = {
    y: {
      field: 'who',
      type: 'nominal',
      sort: null,
      title: null,
      axis: { labelLimit: 500, minExtent: 212, ticks: false },
    },
    x: { field: 'value', type: 'quantitative', title: null, axis: null, ...scale },
  }
  return {
    title: { text: title.split('\n'), frame: 'bounds' },
    // with the names beside them, still readable on a phone
    width: 200,
    height: { step: 24 },
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: 14 },
        encoding: {
          ...encoding,
          color: {
            condition: { test: "slice(datum.who, 0, 9) === 'Tokenlane'", value: '#009e73' },
            value: '#999999',
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6 },
        encoding: { ...encoding, text: { field: 'value', type: 'quantitative', format } },
      },
    ],
  }
}
