import { setTimeout as pause } from 'node:timers/promises'
import { isTokenlaneError } from '@tokenlane/core'
import { EventSourceParserStream } from 'eventsource-parser/stream'

/** Opens a stream with one of the clients. The headers say where to resume. */
export type Open = (
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<ReadableStream<Uint8Array>>

/** Yields each event's data until `signal` aborts. A stream that ends is opened again after `retry` milliseconds. */
export async function* readEvents(
  open: Open,
  signal: AbortSignal,
  retry = 1_000,
): AsyncGenerator<string> {
  let last: string | undefined
  while (!signal.aborted) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      const stream = await open(headers, signal)
      const events = stream
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream())
      for await (const { id, data } of events) {
        last = id ?? last
        yield data
      }
    } catch (error) {
      // Tokenlane has already retried
      if (isTokenlaneError(error)) throw error
    }
    await pause(retry, undefined, { signal }).catch(() => {})
  }
}
