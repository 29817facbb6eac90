import { TokenlaneError } from '@tokenlane/core/adapter'

import type { Controller } from './handler.ts'

const channels = process.getBuiltinModule('node:diagnostics_channel')
/** The request that undici writes next. */
let next: { readonly url: string; readonly attempt: Controller } | undefined
let isWatching = false

/**
 * Aborts the request that is about to be written if it goes over a connection below TLS 1.2. To be called in
 * `onRequestStart`: undici publishes its connection next, before a byte of the request is written.
 */
export function refuseOldTls(url: string, attempt: Controller): void {
  if (!url.startsWith('https:')) return
  if (!isWatching) channels.subscribe('undici:client:sendHeaders', look)
  isWatching = true
  next = { url, attempt }
  // what mocks undici publishes nothing
  queueMicrotask(forget)
}

function forget(): void {
  next = undefined
}

function look(message: unknown): void {
  if (next === undefined) return
  const { url, attempt } = next
  next = undefined
  const version =
    (message as { readonly socket?: Partial<import('node:tls').TLSSocket> }).socket?.getProtocol?.() ?? ''
  if (!/^(?:SSLv3|TLSv1(?:\.1)?)$/.test(version)) return
  const origin = new URL(url).origin
  attempt.abort(
    new TokenlaneError(
      'INSECURE_TRANSPORT',
      `Cannot send call: the dispatcher and ${origin} agreed on ${version}; allowed: TLSv1.2 or later. ` +
        "Remove `minVersion` and `maxVersion` below TLSv1.2 from the dispatcher's `connect` options",
    ),
  )
}
