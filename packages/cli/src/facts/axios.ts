import type { PackageFacts } from './packages.ts'

/** How sure it is that calls go through axios, which uses the proxy of the environment by itself. */
export type AxiosUse = 'exported' | 'installed' | undefined

/**
 * Returns whether the application exports a client of axios that uses the proxy of the environment, or has
 * `@tokenlane/axios` installed without exporting a client. A client with `proxy: false` does not use it.
 */
export function lookForAxios(
  exports: Readonly<Record<string, unknown>>,
  packages: readonly PackageFacts[],
): AxiosUse {
  const clients = Object.values(exports).filter(isAxios)
  if (clients.some(({ defaults }) => defaults.proxy !== false)) return 'exported'
  const isInstalled = packages.some(({ name }) => name === '@tokenlane/axios')
  return clients.length === 0 && isInstalled ? 'installed' : undefined
}

function isAxios(value: unknown): value is { readonly defaults: { readonly proxy?: unknown } } {
  const { defaults, interceptors } = (typeof value === 'function' ? value : {}) as Record<string, unknown>
  return typeof defaults === 'object' && typeof interceptors === 'object'
}
