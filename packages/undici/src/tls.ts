import { TokenlaneError } from '@tokenlane/core/adapter'

const channels = process.getBuiltinModule('node:diagnostics_channel')
/** The request that undici writes next. */
let next: { readonly url: string; readonly refuse: (error: TokenlaneError) => void } | undefined
let isWatching = false

/**
 * Calls `refuse` if the request that is about to be written goes over a connection below TLS 1.2. To be called in
 * `onRequestStart`: undici publishes its connection next, before a byte of the request is written.
 */
export function refuseOldTls(url: string, refuse: (error: TokenlaneError) => void): void {
  if (!url.startsWith('https:')) return
  if (!isWatching) channels.subscribe('undici:client:sendHeaders', look)
  isWatching = true
  const request = { url, refuse }
  next = request
  // what mocks undici publishes nothing
  queueMicrotask(() => {
    if (next === request) next = undefined
  })
}

function look(message: unknown): void {
  if (next === undefined) return
  const { url, refuse } = next
  next = undefined
  const version =
    (message as { readonly socket?: Partial<import('node:tls').TLSSocket> }).socket?.getProtocol?.() ?? ''
  if (!/^(?:SSLv3|TLSv1(?:\.1)?)$/.test(version)) return
  const origin = new URL(url).origin
  refuse(
    new TokenlaneError(
      'INSECURE_TRANSPORT',
      `Cannot send call: the dispatcher and ${origin} agreed on ${version}; allowed: TLSv1.2 or later. ` +
        "Remove `minVersion` and `maxVersion` below TLSv1.2 from the dispatcher's `connect` options",
    ),
  )
}
