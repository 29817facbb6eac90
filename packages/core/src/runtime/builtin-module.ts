/** Returns a module of the runtime, if it has it. Bundlers for browsers and edge runtimes would stumble over an import. */
export function builtinModule(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } }
  try {
    return process?.getBuiltinModule?.(name)
  } catch {
    // the edge runtime of Next.js throws
    return undefined
  }
}
