import { expect, onTestFinished, test, vi } from 'vitest'

import { openers } from './clients.ts'
import { openEvents } from './event-source.ts'
import { readEvents } from './read-events.ts'
import { startStreamService, type StreamService } from './service.ts'

async function open() {
  const service = await startStreamService()
  onTestFinished(() => service[Symbol.asyncDispose]())
  const tokens = service.createManager()
  onTestFinished(() => tokens.close())
  return { service, tokens }
}

type Opened = Awaited<ReturnType<typeof open>>
type Way = keyof ReturnType<typeof openers> | 'eventsource'
const ways: Way[] = ['eventsource', 'fetch', 'ky', 'axios', 'got', 'undici']

/** Starts to read events in one of the ways. The end of the reading is an error, or `stop`. */
function read(way: Way, { service, tokens }: Opened) {
  const seen: string[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  if (way === 'eventsource') {
    const source = openEvents(tokens, service.eventsUrl)
    source.addEventListener('message', ({ data }) => seen.push(String(data)))
    const { promise, reject } = Promise.withResolvers<never>()
    source.addEventListener('error', ({ message = '' }) => {
      if (message.includes('closed')) reject(new Error(message))
    })
    promise.catch(() => {})
    stop.signal.addEventListener('abort', () => source.close())
    return { seen, ended: promise }
  }
  const reading = async (): Promise<void> => {
    const events = readEvents(
      openers(tokens, service.eventsUrl)[way],
      stop.signal,
      10,
    )
    for await (const data of events) seen.push(data)
  }
  const ended = reading()
  ended.catch(() => {})
  return { seen, ended }
}

/** Starts a service and reads its events in one of the ways. */
async function opened(way: Way) {
  const both = await open()
  const reading = read(way, both)
  await vi.waitFor(() => expect(both.service.openStreams()).toBe(1))
  return { ...both, ...reading }
}

async function announced(
  seen: readonly string[],
  service: StreamService,
  data: string,
) {
  service.announce(data)
  await vi.waitFor(() => expect(seen).toContain(data))
}

test.each(ways)(
  '%s: an open stream is left alone when its token ends',
  async (way) => {
    const { seen, service } = await opened(way)
    service.revokeTokens()
    await announced(seen, service, 'one')
    expect(service.counts).toEqual({ tokenRequests: 1, refused: 0 })
  },
)

test.each(ways)(
  '%s: a 401 at a reconnection costs one renewal, and no event is missed',
  async (way) => {
    const { seen, service } = await opened(way)
    await announced(seen, service, 'one')
    service.revokeTokens()
    service.cutStreams()
    await announced(seen, service, 'two')
    expect(seen).toEqual(['one', 'two'])
    expect(service.counts).toEqual({ tokenRequests: 2, refused: 1 })
  },
)

test.each(ways)(
  '%s: a reconnection after the expiry has a new token at once',
  async (way) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const { seen, service } = await opened(way)
    await announced(seen, service, 'one')
    vi.setSystemTime(Date.now() + 7_200_000)
    service.cutStreams()
    await announced(seen, service, 'two')
    expect(service.counts).toEqual({ tokenRequests: 2, refused: 0 })
  },
)

test.each(ways)(
  '%s: close() leaves an open stream, and refuses its reconnection',
  async (way) => {
    const { seen, ended, service, tokens } = await opened(way)
    await announced(seen, service, 'one')
    await tokens.close()
    await announced(seen, service, 'two')
    service.cutStreams()
    await expect(ended).rejects.toThrow('closed')
  },
)
