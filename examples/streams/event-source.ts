import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { EventSource } from 'eventsource'

/** Opens a stream of events that connects again by itself, each time with a live token. */
export function openEvents(tokens: TokenManager, url: string): EventSource {
  return new EventSource(url, { fetch: createFetch(tokens) })
}
