import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { EventSource } from 'eventsource'

/** Opens an event stream that reconnects by itself, with a live token each time. */
export function openEvents(tokens: TokenManager, url: string): EventSource {
  return new EventSource(url, { fetch: createFetch(tokens) })
}
