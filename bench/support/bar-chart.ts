import { ours } from '@tokenlane/charts'

/** One bar: what it stands for, and how long it is. */
export interface Bar {
  readonly who: string
  readonly value: number
  /** What stands beside it; its value if this is missing. */
  readonly text?: string
}

/** How a chart looks; without it, as on a page. */
export interface Look {
  /** How the figure beside a bar is written, as d3 does: `,` or `.2f`. */
  readonly format?: string
  /** Bars as long as the logarithm, for figures that are thousands of times apart. */
  readonly logarithmic?: boolean
  /** How many pixels the longest bar takes. */
  readonly width?: number
  /** How many pixels the names take beside the bars; 0 for a chart beside one with the same names. */
  readonly names?: number | 'above'
}

const isOurs = (name: string): string => `slice(${name}, 0, 9) === 'Tokenlane'`

/**
 * Returns a chart of horizontal bars, in which those of Tokenlane stand out, each with its figure.
 *
 * @param title Lines of at most 40 characters, so that the chart can be read on a phone.
 * @throws Error when a figure is missing: the table has changed.
 */
export function barChart(
  title: string,
  values: readonly Bar[],
  { format = ',', logarithmic = false, width = 200, names = 212 }: Look = {},
): object {
  for (const { who, value } of values)
    if (Number.isNaN(value)) throw new Error(`${title}: no figure for ${who}`)
  const scale = logarithmic ? { scale: { type: 'symlog' } } : {}
  const below = names === 'above' ? 7 : 0
  const encoding = {
    y: {
      field: 'who',
      type: 'nominal',
      sort: null,
      title: null,
      axis:
        names === 0 || names === 'above'
          ? null
          : {
              labelLimit: 500,
              minExtent: names,
              ticks: false,
              labelFontWeight: { condition: { test: isOurs('datum.value'), value: 'bold' }, value: 'normal' },
            },
    },
    x: { field: 'value', type: 'quantitative', title: null, axis: null, ...scale },
  }
  return {
    title: { text: names === 'above' ? linesOf(title, 31) : title.split('\n'), frame: 'bounds' },
    width,
    height: { step: names === 'above' ? 38 : 24 },
    data: { values },
    layer: [
      {
        // the edge shows a bar of length 0
        mark: { type: 'bar', height: 14, strokeWidth: 3, yOffset: below },
        encoding: { ...encoding, color: colour('#999999'), stroke: colour('transparent') },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6, dy: below },
        encoding: {
          ...encoding,
          text:
            values[0]?.text === undefined
              ? { field: 'value', type: 'quantitative', format }
              : { field: 'text', type: 'nominal' },
          color: colour('#1f2329'),
        },
      },
      ...(names === 'above' ? [nameAbove(encoding.y)] : []),
    ],
  }
}

/** Splits a title between words into lines of at most `longest` characters. */
export function linesOf(title: string, longest: number): string[] {
  return title.replaceAll('\n', ' ').match(new RegExp(`\\S.{0,${longest - 1}}(?=\\s|$)`, 'g')) ?? [title]
}

/** Returns the names in the room above their bars, which begin at the left edge. */
function nameAbove(y: object): object {
  return {
    mark: { type: 'text', align: 'left', dy: -9, fontSize: 12 },
    encoding: {
      y,
      x: { datum: 0 },
      text: { field: 'who', type: 'nominal' },
      color: { value: '#1f2329' },
    },
  }
}

/** Returns the colour of ours, and another one for the rest. */
function colour(others: string): object {
  return { condition: { test: isOurs('datum.who'), value: ours }, value: others }
}
