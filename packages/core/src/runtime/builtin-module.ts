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

/** A value that `work` sees, and everything that it awaits. */
export interface AsyncContext<T> {
  run<R>(value: T, work: () => R): R
  getStore(): T | undefined
}

/** Returns a new context, or `undefined` in a runtime that has none. */
export function asyncContext<T>(): AsyncContext<T> | undefined {
  type Class = new () => AsyncContext<T>
  type Holder = { readonly AsyncLocalStorage?: Class } | undefined
  // the edge runtime of Next.js has a global one
  const { AsyncLocalStorage } =
    (builtinModule('node:async_hooks') as Holder) ?? (globalThis as Exclude<Holder, undefined>)
  return AsyncLocalStorage && new AsyncLocalStorage()
}
