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

const opened = ({ service }: Opened) =>
  vi.waitFor(() => expect(service.openStreams()).toBe(1))

async function announced(
  seen: readonly string[],
  service: StreamService,
  data: string,
) {
  service.announce(data)
  await vi.waitFor(() => expect(seen).toContain(data), { timeout: 10_000 })
}

test.each(ways)(
  '%s: an open stream is left alone when its token ends',
  async (way) => {
    const both = await open()
    const { seen } = read(way, both)
    await opened(both)
    both.service.revokeTokens()
    await announced(seen, both.service, 'one')
    expect(both.service.counts).toEqual({ tokenRequests: 1, refused: 0 })
  },
)

test.each(ways)(
  '%s: a 401 at a reconnection costs one renewal, and no event is missed',
  async (way) => {
    const both = await open()
    const { seen } = read(way, both)
    await opened(both)
    await announced(seen, both.service, 'one')
    both.service.revokeTokens()
    both.service.cutStreams()
    await announced(seen, both.service, 'two')
    expect(seen).toEqual(['one', 'two'])
    expect(both.service.counts).toEqual({ tokenRequests: 2, refused: 1 })
  },
)

test.each(ways)(
  '%s: a reconnection after the expiry has a new token at once',
  async (way) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const both = await open()
    const { seen } = read(way, both)
    await opened(both)
    await announced(seen, both.service, 'one')
    vi.setSystemTime(Date.now() + 7_200_000)
    both.service.cutStreams()
    await announced(seen, both.service, 'two')
    expect(both.service.counts).toEqual({ tokenRequests: 2, refused: 0 })
  },
)

test.each(ways)(
  '%s: close() leaves an open stream, and refuses its reconnection',
  async (way) => {
    const both = await open()
    const { seen, ended } = read(way, both)
    await opened(both)
    await announced(seen, both.service, 'one')
    await both.tokens.close()
    await announced(seen, both.service, 'two')
    both.service.cutStreams()
    await expect(ended).rejects.toThrow('closed')
  },
)
