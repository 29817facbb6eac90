import { TokenlaneError } from '../errors.ts'

interface Globals {
  readonly window?: { readonly navigator?: unknown } | undefined
  readonly document?: unknown
  readonly WorkerGlobalScope?: unknown
  readonly navigator?: { readonly userAgent?: unknown } | undefined
  readonly process?: { readonly version?: string; readonly versions?: { readonly node?: string } } | undefined
  readonly URL: { readonly parse?: unknown }
  readonly Promise: { readonly withResolvers?: unknown }
}

/**
 * Refuses to start in a browser, whose users can read every secret, and in an older runtime than the package needs.
 *
 * A page has `window` and `document`. A browser worker has `WorkerGlobalScope` and a user agent that starts with
 * `Mozilla/`. Edge runtimes have the first, never the second. A server may have the globals of a page, to render one: then
 * the window's navigator is another one than the runtime's own or, where that is replaced too, the application says so.
 *
 * @param runtime what the application says.
 * @throws TokenlaneError `CLIENT_SIDE_FORBIDDEN`, `RUNTIME_UNSUPPORTED`; `refusingTo` adds what could not be done.
 */
export function mustBeSupportedRuntime(runtime?: unknown, globals: Globals = globalThis): void {
  const { window, document, WorkerGlobalScope: workerScope, navigator, process: node } = globals
  const agent = String(navigator?.userAgent)
  const isPage = window !== undefined && document !== undefined
  const isWorker = workerScope !== undefined && agent.startsWith('Mozilla/')
  const isOwnAgent = /^(?:Node\.js|Bun|Deno)\//.test(agent)
  const rendersPage = isOwnAgent && window?.navigator !== undefined
  const isServer = rendersPage || (runtime === 'server' && node?.versions?.node !== undefined)
  if ((isPage || isWorker) && !isServer)
    throw new TokenlaneError(
      'CLIENT_SIDE_FORBIDDEN',
      'a browser cannot keep a client secret; in a test, use the node environment; on a server with browser globals, ' +
        "set `runtime: 'server'`",
    )
  mustBeRecentRuntime(globals)
}

/** @throws TokenlaneError `RUNTIME_UNSUPPORTED` in an older runtime than the package needs. */
export function mustBeRecentRuntime({ URL, Promise, process }: Globals = globalThis): void {
  // Node 20 has the first, and not the second
  if (URL.parse !== undefined && Promise.withResolvers !== undefined) return
  const [name, others] = process?.version
    ? [`Node ${process.version}`, '']
    : ['this runtime', ', or a Workers `compatibility_date` of 2022-10-31 or later']
  throw new TokenlaneError(
    'RUNTIME_UNSUPPORTED',
    `${name} is too old; use Node 22.19, 24, 26 or later${others}`,
  )
}
