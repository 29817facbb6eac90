import { TokenlaneError } from '../errors.ts'

interface Globals {
  readonly window?: unknown
  readonly document?: unknown
  readonly WorkerGlobalScope?: unknown
  readonly navigator?: { readonly userAgent?: unknown } | undefined
  readonly process?: { readonly version?: string } | undefined
  readonly URL: { readonly parse?: unknown }
  readonly Promise: { readonly withResolvers?: unknown }
}

/** How the test environments that imitate a browser name themselves. */
const imitation = /\b(?:jsdom|HappyDOM)\//i

/**
 * Refuses to start in a browser, whose users can read every secret, and in an older runtime than the package needs.
 *
 * A page has `window` and `document`. A browser worker has `WorkerGlobalScope` and a user agent that starts with
 * `Mozilla/`. Edge runtimes have the first, never the second.
 *
 * @throws TokenlaneError `CLIENT_SIDE_FORBIDDEN`, `RUNTIME_UNSUPPORTED`.
 */
export function mustBeSupportedRuntime(globals: Globals = globalThis): void {
  const { window, document, WorkerGlobalScope: workerScope, navigator } = globals
  const userAgent = String(navigator?.userAgent)
  const isPage = window !== undefined && document !== undefined
  if (isPage || (workerScope !== undefined && userAgent.startsWith('Mozilla/')))
    throw new TokenlaneError(
      'CLIENT_SIDE_FORBIDDEN',
      imitation.test(userAgent)
        ? 'Cannot create token manager: this is a test environment that imitates a browser; use the node environment ' +
            '(`// @vitest-environment node` or `@jest-environment node` at the top of the test file)'
        : 'Cannot create token manager: this is a browser, and a client secret does not belong in client-side code',
    )
  const { URL: urls, Promise: promises, process: node } = globals
  // Node 20 has the first, and not the second
  if (urls.parse === undefined || promises.withResolvers === undefined)
    throw new TokenlaneError(
      'RUNTIME_UNSUPPORTED',
      `Cannot create token manager: ${node?.version ? `Node ${node.version}` : 'this runtime'} is too old; use Node 22.19, ` +
        '24, 26 or later, or in a Cloudflare Worker set `compatibility_date` to 2022-10-31 or later',
    )
}
