import { expect } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'
import { rejection } from '../scripted-api.ts'
import { oneByOne } from '../stage.ts'
import type { TestClient } from '../test-client.ts'

const size = 1_000_000
const long = 'x'.repeat(size)

export const streams: ScenarioGroup = {
  subject: 'A streamed answer',
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
      name: 'of a call that met a 401 with a body of 1 MB is the second one',
      needs: {
        feature: 'streamRetry',
        async instead(stage) {
          const api = await stage.scripted((_, number) => ({
            ...(number === 1 ? rejection : { status: 200 }),
            body: long,
          }))
          const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url }] })
          await stage.revoke(tokens)
          expect(await client.status({ url: api.url, stream: true })).toBe(401)
          expect(api.requests.length).toBe(1)
          expect(await lengthOf(client, api.url)).toBe(size)
          expect(stage.tokenRequests()).toBe(1)
        },
      },
      async run(stage) {
        const api = await stage.scripted((_, number) => ({
          ...(number === 1 ? rejection : { status: 200 }),
          body: long,
        }))
        const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url }] })
        await stage.revoke(tokens)
        expect(await lengthOf(client, api.url)).toBe(size)
        expect([api.requests.length, stage.tokenRequests()]).toEqual([2, 1])
      },
    },
    {
      name: 'gives its slot back, read or let go of',
      async run(stage) {
        const api = await stage.scripted(() => ({ status: 200, body: long }))
        const { client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy: oneByOne }] })
        expect(await lengthOf(client, api.url)).toBe(size)
        const { stream } = await client.send({ url: api.url, stream: true })
        for await (const chunk of stream!) if (chunk.length > 0) break
        expect(await lengthOf(client, api.url)).toBe(size)
        expect(api.requests.length).toBe(3)
      },
    },
  ],
}

async function lengthOf(client: TestClient, url: string): Promise<number> {
  const { stream } = await client.send({ url, stream: true })
  let length = 0
  for await (const chunk of stream!) length += chunk.length
  return length
}
