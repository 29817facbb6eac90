import { TokenlaneError } from './errors.ts'

interface Globals {
  readonly window?: unknown
  readonly document?: unknown
  readonly WorkerGlobalScope?: unknown
  readonly navigator?: { readonly userAgent?: unknown } | undefined
}

/**
 * Refuses to start in a browser, whose users can read every secret.
 *
 * A page has a window and a document. Workers of a page have neither, but tell that they are workers, as edge
 * runtimes do, and name themselves as every browser does since Mosaic, as no edge runtime does.
 *
 * @throws TokenlaneError `CLIENT_SIDE_FORBIDDEN`.
 */
export function mustNotBeInBrowser(globals: Globals = globalThis): void {
  const { window, document, WorkerGlobalScope: worker, navigator } = globals
  const isPage = typeof window !== 'undefined' && typeof document !== 'undefined'
  const isWorker = typeof worker !== 'undefined' && String(navigator?.userAgent).startsWith('Mozilla/')
  if (!isPage && !isWorker) return
  throw new TokenlaneError(
    'CLIENT_SIDE_FORBIDDEN',
    'Cannot create token manager: this is a browser, and a client secret does not belong in client-side code',
  )
}
