/** Returns a hint at the name that `text` probably meant, or an empty string if none is close. */
export function didYouMean(text: string, names: readonly string[]): string {
  const name = nearestOf(text, names)
  return name === undefined ? '' : ` (did you mean \`${name}\`?)`
}

export function nearestOf(text: string, names: readonly string[]): string | undefined {
  // a third of the letters may be wrong; comparing long text would take too much time
  if (text.length > 40) return undefined
  let nearest: string | undefined
  let least = Math.ceil(text.length / 3) + 1
  for (const name of names) {
    const edits = distance(text.toLowerCase(), name.toLowerCase())
    if (edits < least) [nearest, least] = [name, edits]
  }
  return nearest
}

function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const change = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[to.length] as number
}
