/** What tells one error of a client from another. */
export function errorKind(error: unknown): { constructor: unknown; name: unknown; code: unknown } {
  const { constructor, name, code } = error as Error & { code?: unknown }
  return { constructor, name, code }
}
