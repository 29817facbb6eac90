import { type Options } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import {
  weblink,
  calls,
  admitted,
  tokens,
  client,
  bytes,
  lane,
  answering,
  holding,
  useService,
} from './support.ts'

await useService()

describe('a call', () => {
  test('gives its turn back when the headers are there', async () => {
    const { fetch } = answering()
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(bytes) })
    const response = await client(weblink('records'), { fetch: async () => new Response(stream) })
    expect(lane().running).toBe(0)
    expect((await client(weblink('records'), { fetch })).status).toBe(200)
    await response.body?.cancel()
  })

  test('shows the progress of its download', async () => {
    const onDownloadProgress = vi.fn<NonNullable<Options['onDownloadProgress']>>()
    await client(weblink('records'), { onDownloadProgress }).json()
    expect(onDownloadProgress.mock.lastCall?.[0]).toMatchObject({ percent: 1 })
  })

  test('of a higher priority goes first', async () => {
    const { waiting, fetch } = holding()
    const order: unknown[] = []
    const send = (priority?: number) =>
      client(weblink('records'), { fetch, tokenlane: { priority } }).then(() => order.push(priority))
    const sent = [send()]
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    for (const priority of [-1, 0, 7]) sent.push(send(priority))
    await vi.waitFor(() => expect(lane().queued).toBe(3))
    for (let n = 1; n <= 4; n += 1) {
      await vi.waitFor(() => expect(waiting).toHaveLength(n))
      waiting[n - 1]?.()
    }
    await Promise.all(sent)
    expect(order).toEqual([undefined, 7, 0, -1])
  })

  test('that ky refuses takes no turn', async () => {
    await tokens.warmUp()
    for (const wrong of [
      { method: 'TRACE' },
      { method: 'a b' },
      { headers: { a: 'b\nc' } },
      { body: 'of a GET' },
    ])
      await expect((async () => client(weblink('records'), wrong))()).rejects.toThrow(TypeError)
    expect([admitted(), lane().running]).toEqual([0, 0])
  })

  test('with wrong options is refused', async () => {
    for (const tokenlane of [{ priority: 0.5 }, { urgent: true }, 7])
      await expect(client(weblink('records'), { tokenlane } as Options)).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
      })
    const asInGot = client(weblink('records'), { context: { tokenlane: { priority: 1 } } })
    await expect(asInGot).rejects.toThrow('Cannot send call: `context.tokenlane` must be `tokenlane` in ky')
    expect(calls()).toBe(0)
  })

  test('of a closed manager is refused', async () => {
    await tokens.close()
    await expect(client(weblink('records'))).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  })
})
