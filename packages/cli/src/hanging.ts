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
