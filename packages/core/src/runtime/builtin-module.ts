/**
 * Returns a module that the runtime brings, `undefined` where it has none of this name.
 *
 * Without an import, which bundlers for browsers and edge runtimes would stumble over.
 */
export function builtinModule(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } }
  try {
    return process?.getBuiltinModule?.(name)
  } catch {
    // the edge runtime of Next.js throws
    return undefined
  }
}
