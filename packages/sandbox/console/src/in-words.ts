// Numbers as people read them.

/** `2.5 s`, `3 min`, `1 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${Number((ms / 1_000).toFixed(1))} s`
  if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`
  return `${Number((ms / 3_600_000).toFixed(1))} h`
}

export function times(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`
}
