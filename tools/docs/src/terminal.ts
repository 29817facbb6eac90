import { stripVTControlCharacters } from 'node:util'

/** One line that a program printed, with its ANSI colours. */
export interface PrintedLine {
  /** When it was printed, in milliseconds since the start. */
  at: number
  text: string
}

/** The screen on which a recording is played. */
export interface Screen {
  columns: number
  rows: number
  /** How long the last screen is shown before the recording plays, in milliseconds. */
  pause: number
  /** What the recording shows, for readers who cannot see it. */
  label: string
}

const character = 7.83
const line = 18
const padding = 16
/** ANSI colours on a dark ground, each with a contrast of at least 7 to 1. */
const colours: Record<string, string> = { 31: '#ff9b93', 32: '#7fd88f', 33: '#f2cc60' }

/**
 * Returns a recording of a terminal as an animated SVG, into which the lines scroll at the times when they were printed. It
 * loads nothing and runs no script. It begins with the last screen, then plays from the start. Readers who asked for less
 * motion, and programs that do not animate, get the last screen.
 *
 * @param lines What was printed, in order; each at most as wide as the screen.
 */
export function drawTerminal(lines: readonly PrintedLine[], { columns, rows, pause, label }: Screen): string {
  const played = lines.at(-1)?.at ?? 0
  const duration = played + pause
  const width = Math.ceil(columns * character + 2 * padding)
  const height = rows * line + 2 * padding
  // the newest line stands at the bottom
  const offset = (printed: number): string => `{transform:translateY(${(rows - printed) * line}px)}`
  const steps = lines.map(({ at }, index) => `${((at / duration) * 100).toFixed(3)}%${offset(index + 1)}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${escaped(label)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<style>',
    'text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6e9ee;white-space:pre}',
    `.lines${offset(lines.length)}`,
    `@media (prefers-reduced-motion:no-preference){.lines{animation:print ${duration}ms step-end ${-played}ms infinite}}`,
    `@keyframes print{0%${offset(0)}${steps.join('')}}`,
    '</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#14171c"/>`,
    `<svg x="${padding}" y="${padding}" width="${width - 2 * padding}" height="${rows * line}"><g class="lines">`,
    ...lines.map(({ text }, index) => `<text y="${(index + 1) * line - 5}">${spans(text)}</text>`),
    '</g></svg></svg>\n',
  ].join('\n')
}

/**
 * Returns the parts of a line that fit on a narrow screen, each with the colour that the one before it ended in.
 *
 * @param indent How many spaces the parts after the first begin with.
 */
export function foldLine(text: string, columns: number, indent: number): string[] {
  const parts: string[] = []
  let part = ''
  for (const word of text.split(/(?<=\S) +/)) {
    const longer = part === '' ? word : `${part} ${word}`
    if (stripVTControlCharacters(longer).length <= columns) {
      part = longer
      continue
    }
    parts.push(part)
    const code = part.lastIndexOf('\u001B[')
    const colour = code < 0 ? '' : part.slice(code, part.indexOf('m', code) + 1)
    part = ' '.repeat(indent) + colour + word
  }
  return [...parts, part]
}

/** Returns a line as SVG text, coloured as its ANSI sequences say. */
function spans(text: string): string {
  const [plain = '', ...coloured] = text.split('\u001B[')
  const parts = coloured.map((part) => {
    const [code, rest] = part.split(/m(.*)/)
    const colour = colours[code!]
    return colour === undefined ? escaped(rest!) : `<tspan fill="${colour}">${escaped(rest!)}</tspan>`
  })
  return escaped(plain) + parts.join('')
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
