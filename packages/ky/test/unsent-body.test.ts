import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'

import { openScriptedApi } from '@tokenlane/conformance'
import { openService } from '@tokenlane/testing'
import ky, { type KyInstance, type Options } from 'ky'
import { afterAll, expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'

const { createManager } = await openService()
const api = await openScriptedApi()
const tokens = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
afterAll(() => Promise.all([api.close(), tokens.close()]))

const bare = ky.create({ retry: 0 })
const managed = bare.extend(kyTokens(tokens))

interface Fate {
  readonly outcomes: unknown[]
  stream: boolean
  generator: boolean
  readable: boolean
}

/** Sends one body of each kind, and returns what became of them and of their calls. */
async function fateOf(client: KyInstance, options: Options): Promise<Fate> {
  const fate: Fate = { outcomes: [], stream: false, generator: false, readable: false }
  const stream = new ReadableStream({ cancel: () => void (fate.stream = true) })
  const generator = (async function* generate() {
    try {
      yield new Uint8Array(1)
      yield new Uint8Array(1)
    } finally {
      fate.generator = true
    }
  })()
  const readable = new Readable({ read: () => void readable.push('x') })
  readable.once('close', () => (fate.readable = true))
  for (const body of [stream, generator, readable])
    fate.outcomes.push(
      await client.post(api.url, { ...options, body: body as NonNullable<Options['body']> }).then(
        () => 'sent',
        (error: unknown) => error,
      ),
    )
  // what a body does when it is cancelled, it does in turns of its own
  await wait(20)
  return fate
}

const reason = new Error('enough')
const failing = (async () => {
  throw reason
}) as unknown as NonNullable<Options['fetch']>
const failingLate = (async () => {
  await Promise.resolve()
  throw reason
}) as unknown as NonNullable<Options['fetch']>

test.each<[string, Options]>([
  ['the signal had aborted before the call', { signal: AbortSignal.abort(reason) }],
  [
    'the signal had aborted before the call, which ky may try again',
    { signal: AbortSignal.abort(reason), retry: 1 },
  ],
  ["the caller's own fetch fails at once", { fetch: failing }],
  ["the caller's own fetch fails before it reads", { fetch: failingLate }],
  ["the caller's own fetch fails, and ky may try again", { fetch: failing, retry: 1 }],
])(
  'a body that is not sent is let go of because %s, and the call fails as by ky alone',
  async (_, options) => {
    const [seen, alone] = [await fateOf(managed, options), await fateOf(bare, options)]
    expect(seen.outcomes).toEqual(alone.outcomes)
    expect(seen.stream).toBe(true)
    // ky alone leaves open what a `fetch` of the caller's did not begin to read
    expect(seen.readable).toBe(true)
    expect(seen.generator).toBe(true)
  },
)
