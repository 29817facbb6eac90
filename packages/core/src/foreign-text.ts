/** White space, control and formatting characters (those that change the direction of text too), and half characters. */
const unprintable = /[\s\p{Cc}\p{Cf}\p{Cs}]+/gu

/** Makes text from outside safe to show: one line of printable characters, cut to `most`. */
export function printable(text: string, most = 200): string {
  const start = text.slice(0, 4 * most)
  const line = start.replaceAll(unprintable, ' ').trim()
  if (line.length <= most && start === text) return line
  // not half of a character
  return `${line.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}\u2026`
}
