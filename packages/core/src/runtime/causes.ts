const deepest = 8

/** Returns what was thrown and its causes, the innermost last; of the failures of several addresses the first. */
export function causesOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const all: Readonly<Record<string, unknown>>[] = []
  for (let inner = error; typeof inner === 'object' && inner !== null && all.length < deepest;) {
    all.push(inner as Readonly<Record<string, unknown>>)
    const { cause, errors } = inner as { readonly cause?: unknown; readonly errors?: unknown }
    inner = cause ?? (Array.isArray(errors) ? (errors as readonly unknown[])[0] : undefined)
  }
  return all
}
