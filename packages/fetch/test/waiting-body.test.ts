import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'

import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import { beforeEach, expect, test, vi } from 'vitest'

import { createFetch } from '../src/index.ts'

const { sandbox, createManager, weblink, calls } = await openService()

let tokens: TokenManager
let fetch: typeof globalThis.fetch

beforeEach(() => {
  sandbox.control.slowIssuer('weblink', 60_000)
  const ratePolicy = { limits: [], concurrency: 1 }
  tokens = createManager({ apis: [{ baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy }] })
  fetch = createFetch(tokens)
})

/** A body that can be read once, how it dies, and of what the call then dies. */
type Dying = readonly [body: unknown, die: () => void, cause: object]

const disk = new Error('disk')
const bodies: Record<string, () => Dying> = {
  'Node stream that fails': () => {
    const stream = new Readable({ read() {} })
    return [stream, () => stream.destroy(disk), disk]
  },
  'Node stream that is destroyed': () => {
    const stream = new Readable({ read() {} })
    const cause = expect.objectContaining({ code: 'ERR_STREAM_PREMATURE_CLOSE', message: 'Premature close' })
    return [stream, () => stream.destroy(), cause as object]
  },
  'web stream that fails': () => {
    let fail!: (reason: Error) => void
    const start = (controller: ReadableStreamDefaultController): void => {
      fail = (reason) => controller.error(reason)
    }
    return [new ReadableStream({ start }), () => fail(disk), disk]
  },
  'file that is not there': () => [
    createReadStream('/no such file'),
    () => {},
    expect.objectContaining({ code: 'ENOENT' }) as object,
  ],
}

test.each(Object.entries(bodies))(
  'a %s while its call waits fails the call as that of fetch, and leaves its turn to the next',
  async (_, open) => {
    const [body, die, cause] = open()
    const call = fetch(weblink('echo'), { method: 'POST', body, duplex: 'half' } as RequestInit)
    setImmediate(die)
    await expect(call).rejects.toEqual(new TypeError('fetch failed', { cause }))
    expect(await call.catch(({ cause: why }: Error) => why)).toEqual(cause)
    expect(tokens.status().apis[0]).toMatchObject({ queued: 0, running: 0 })
    expect(calls()).toBe(0)
  },
)

test('a stream of a call that is aborted before it begins is cancelled in the same turn, as by fetch', async () => {
  const reason = new Error('enough')
  for (const send of [globalThis.fetch, fetch]) {
    const cancel = vi.fn<(reason: unknown) => void>()
    const body = new ReadableStream({ cancel })
    const signal = AbortSignal.abort(reason)
    const call = send(weblink('echo'), { method: 'POST', body, duplex: 'half', signal })
    expect(cancel.mock.calls).toEqual([[reason]])
    await expect(call).rejects.toBe(reason)
  }
})
