import type { EventEmitter } from 'node:events'

import type { DispatchOptions } from './handler.ts'

/** What undici takes as `signal`. */
type Signal = (AbortSignal | EventEmitter) & { readonly aborted?: boolean }

export interface EndOfWait {
  /** Runs where the signal of the request aborts. The caller's handler has the same signal, and knows the reason. */
  readonly aborted: () => void
  /** Runs where its body fails. */
  readonly failed: (error: unknown) => void
}

/**
 * Listens, while undici does not yet have a request, to what would end it there.
 *
 * @returns what ends the listening.
 */
export function listenForEnd(options: DispatchOptions, { aborted, failed }: EndOfWait): () => void {
  const signal = signalOf(options)
  const stream = isStream(options.body) ? options.body : undefined
  stream?.on('error', failed)
  if (signal) toggle(signal, 'add', aborted)
  return () => {
    stream?.off('error', failed)
    if (signal) toggle(signal, 'remove', aborted)
  }
}

/** Whether the signal of a request has aborted. */
export function isAborted(options: DispatchOptions): boolean {
  return signalOf(options)?.aborted === true
}

function signalOf(options: DispatchOptions): Signal | null | undefined {
  return (options as { readonly signal?: Signal | null }).signal
}

function toggle(signal: Signal, way: 'add' | 'remove', listener: () => void): void {
  if ('addEventListener' in signal) signal[`${way}EventListener`]('abort', listener)
  else signal[`${way}Listener`]('abort', listener)
}

function isStream(body: unknown): body is EventEmitter {
  const { pipe, on } = (body ?? {}) as { readonly pipe?: unknown; readonly on?: unknown }
  return typeof pipe === 'function' && typeof on === 'function'
}
