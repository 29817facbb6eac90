import { expect, vi } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'
import { rejection, type ScriptedApi } from '../scripted-api.ts'
import { oneByOne, patiently, type Stage } from '../stage.ts'
import type { TestClient } from '../test-client.ts'

const size = 1_000_000
const long = 'x'.repeat(size)

export const streams: ScenarioGroup = {
  subject: 'A streamed response',
  scenarios: [
    {
      name: 'arrives whole',
      async run(stage) {
        const api = await stage.scripted(() => ({ status: 200, body: long }))
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        expect(await lengthOf(client, api.url)).toBe(size)
      },
    },
    {
      name: 'after a 401 whose body never ends comes from the retry, and the 401 is discarded',
      needs: {
        feature: 'streamRetry',
        async instead(stage) {
          const { tokens, client, api } = await openRejecting(stage)
          await stage.revoke(tokens)
          expect(await client.status({ url: api.url, stream: true })).toBe(401)
          expect(api.requests.length).toBe(1)
          expect(await lengthOf(client, api.url)).toBe(size)
          expect(stage.tokenRequests()).toBe(1)
        },
      },
      async run(stage) {
        const { tokens, client, api } = await openRejecting(stage, { endless: true })
        await stage.revoke(tokens)
        expect(await lengthOf(client, api.url)).toBe(size)
        expect([api.requests.length, stage.tokenRequests()]).toEqual([2, 1])
        await vi.waitFor(() => expect(api.unfinished()).toBe(0), patiently)
      },
    },
    {
      name: 'releases its slot, whether it is read or discarded',
      async run(stage) {
        const api = await stage.scripted(() => ({ status: 200, body: long }))
        const { client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy: oneByOne }] })
        expect(await lengthOf(client, api.url)).toBe(size)
        const { stream } = await client.send({ url: api.url, stream: true })
        for await (const chunk of stream!) if (chunk.length > 0) break
        await vi.waitFor(() => expect(api.unfinished()).toBe(0), patiently)
        expect(await lengthOf(client, api.url)).toBe(size)
        expect(api.requests.length).toBe(3)
      },
    },
  ],
}

/** An API whose first response is a 401 with a long body. */
async function openRejecting(
  stage: Stage,
  { endless = false } = {},
): Promise<ReturnType<Stage['open']> & { api: ScriptedApi }> {
  const api = await stage.scripted((_, number) =>
    number === 1 ? { ...rejection, body: long, endless } : { status: 200, body: long },
  )
  return { api, ...stage.open({ apis: [{ baseUrl: api.url }] }) }
}

async function lengthOf(client: TestClient, url: string): Promise<number> {
  const { stream } = await client.send({ url, stream: true })
  let length = 0
  for await (const chunk of stream!) length += chunk.length
  return length
}
