import { managerOf } from '@tokenlane/core/adapter'

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

export interface AxiosFacts {
  readonly name: string
  readonly baseUrl: URL | undefined
  /** Whether tokens were attached to it while the module loaded. */
  readonly hasTokens: boolean
  /** Whether it brings an `Authorization` of its own to every call. */
  readonly authorizes: boolean
}

export function lookAtAxiosClients(exports: Readonly<Record<string, unknown>>): AxiosFacts[] {
  const names = new Map(Object.entries(exports).map(([name, value]) => [value, name]))
  return Array.from(names).flatMap(([client, name]) => {
    if (!isAxios(client)) return []
    const baseUrl = URL.parse(String(client.defaults.baseURL)) ?? undefined
    return [{ name, baseUrl, hasTokens: managerOf(client) !== undefined, authorizes: authorizes(client) }]
  })
}

/** As a header for every method or for one, or as `auth`. */
function authorizes({ defaults: { auth, headers = {} } }: AxiosClient): boolean {
  const all = [headers, ...Object.values(headers)]
  return (
    Boolean(auth) ||
    all.some(
      (some) =>
        typeof some === 'object' &&
        some !== null &&
        Object.entries(some).some(([name, value]) => /^authorization$/i.test(name) && Boolean(value)),
    )
  )
}

interface AxiosClient {
  readonly defaults: {
    readonly proxy?: unknown
    readonly baseURL?: unknown
    readonly auth?: unknown
    readonly headers?: object
  }
}

function isAxios(value: unknown): value is AxiosClient {
  const { defaults, interceptors } = (typeof value === 'function' ? value : {}) as Partial<AxiosClient> & {
    readonly interceptors?: unknown
  }
  return typeof defaults === 'object' && typeof interceptors === 'object'
}
