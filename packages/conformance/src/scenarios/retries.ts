import { expect } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'
import { oneByOne } from '../stage.ts'

export const retries: ScenarioGroup = {
  subject: "The client's own retry",
  scenarios: [
    {
      name: 'works as it does without Tokenlane: 503, 503, 200 with a limit of 2',
      needs: {
        feature: 'retries',
        async instead(stage) {
          const { client } = stage.open()
          stage.sandbox.control.failApi('weblink', { status: 503, times: 1 })
          expect(await client.status({ url: 'records' })).toBe(503)
          expect([stage.calls(), stage.tokenRequests()]).toEqual([1, 1])
        },
      },
      async run(stage) {
        const { client } = stage.open({ ratePolicy: oneByOne })
        stage.sandbox.control.failApi('weblink', { status: 503, times: 2 })
        expect(await client.status({ url: 'records', retries: 2 })).toBe(200)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([3, 1])
      },
    },
    {
      name: 'ends where it would without Tokenlane: 503, 503 with a limit of 1',
      needs: {
        feature: 'retries',
        async instead(stage) {
          const { client } = stage.open()
          stage.sandbox.control.failApi('weblink', { status: 503 })
          expect(await client.status({ url: 'records' })).toBe(503)
          expect(stage.calls()).toBe(1)
        },
      },
      async run(stage) {
        const { client } = stage.open({ ratePolicy: oneByOne })
        stage.sandbox.control.failApi('weblink', { status: 503 })
        expect(await client.status({ url: 'records', retries: 1 })).toBe(503)
        expect(stage.calls()).toBe(2)
      },
    },
    {
      name: "is not used up by Tokenlane's retries: 401, 503, 200 with a limit of 1",
      needs: {
        feature: 'retries',
        async instead(stage) {
          const fail = (): void => stage.sandbox.control.failApi('weblink', { status: 503, times: 1 })
          const { tokens, client } = stage.open({
            observe: ({ type }) => type === 'token.rejected' && fail(),
          })
          await stage.revoke(tokens)
          expect(await client.status({ url: 'records' })).toBe(503)
          expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
        },
      },
      async run(stage) {
        const fail = (): void => stage.sandbox.control.failApi('weblink', { status: 503, times: 1 })
        const { tokens, client } = stage.open({ observe: ({ type }) => type === 'token.rejected' && fail() })
        await stage.revoke(tokens)
        expect(await client.status({ url: 'records', retries: 1 })).toBe(200)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([3, 1])
      },
    },
    {
      name: "is not triggered by Tokenlane's retries: 401, 503 with a limit of 0",
      async run(stage) {
        const fail = (): void => stage.sandbox.control.failApi('weblink', { status: 503, times: 1 })
        const { tokens, client } = stage.open({ observe: ({ type }) => type === 'token.rejected' && fail() })
        await stage.revoke(tokens)
        expect(await client.status({ url: 'records' })).toBe(503)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
  ],
}
