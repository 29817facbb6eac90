import type { styleText } from 'node:util'

/** A stream that gets text. `styleText` adds colours only if it is a terminal that supports them. */
export type TextStream = NonNullable<Parameters<typeof styleText>[2]>['stream'] & {
  readonly columns?: number
}

/** Returns how wide text for people is at most, 80 columns if the stream is wider. */
export function textWidth(stream: TextStream): number {
  return Math.min(80, columnsOf(stream, 80))
}

/** Returns the width of a stream. A terminal that does not know its own, such as that of `docker exec -t`, reports 0. */
export function columnsOf(stream: { readonly columns?: number } | undefined, otherwise: number): number {
  return stream?.columns || otherwise
}

/**
 * Returns a text behind `head`, broken between words into lines of at most `columns`. Lines after the first are
 * indented by `indent`. A word may be longer than a line.
 */
export function hanging(head: string, text: string, indent: number, columns: number): string {
  const lines: string[] = []
  const room = columns - indent
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return head + lines.join(`\n${' '.repeat(indent)}`)
}
