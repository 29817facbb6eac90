import type { TokenlaneEvent } from '@tokenlane/core'
import { expect } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'

export const attachment: ScenarioGroup = {
  subject: 'Attaching',
  scenarios: [
    {
      name: 'twice has the same effect as once: 1 request per call, 2 after a 401',
      async run(stage) {
        const { tokens, client } = stage.open()
        const twice = client.attachAgain()
        expect(await twice.status({ url: 'records' })).toBe(200)
        expect(stage.calls()).toBe(1)
        await stage.revoke(tokens)
        expect(await twice.status({ url: 'records' })).toBe(200)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
    {
      name: 'twice still takes one slot per call, and releases it',
      async run(stage) {
        const { tokens, client } = stage.open({ ratePolicy: { limits: [], concurrency: 1 } })
        const twice = client.attachAgain()
        await stage.revoke(tokens)
        for (const page of [1, 2]) expect(await twice.status({ url: `records?page=${page}` })).toBe(200)
        expect(stage.calls()).toBe(3)
      },
    },
    {
      name: 'to one client and not to another is said once, at the 401 of the other',
      needs: {
        feature: 'heardResponses',
        async instead(stage) {
          const events: TokenlaneEvent[] = []
          stage.open({ observe: (event) => events.push(event) })
          expect(await stage.bare().status({ url: 'records' })).toBe(401)
          expect(events).toEqual([])
        },
      },
      async run(stage) {
        const events: TokenlaneEvent[] = []
        const { client } = stage.open({ observe: (event) => events.push(event) })
        const said = (): TokenlaneEvent[] => events.filter(({ type }) => type === 'client.unattached')
        expect(await client.status({ url: 'status/401' })).toBe(401)
        expect(said()).toEqual([])
        for (const url of ['records', 'records?page=2']) expect(await stage.bare().status({ url })).toBe(401)
        expect(said()).toEqual([
          { type: 'client.unattached', api: expect.stringMatching(/^https:/) as string },
        ])
      },
    },
    {
      name: 'is undone by detaching, even after attaching twice',
      needs: {
        feature: 'detach',
        async instead(stage) {
          const { client } = stage.open()
          expect(client.detach).toBeUndefined()
          expect(await client.status({ url: 'records' })).toBe(200)
          expect(await stage.bare().status({ url: 'records' })).toBe(401)
        },
      },
      async run(stage) {
        const { client } = stage.open()
        const { detach } = client.attachAgain()
        detach!()
        expect(await client.status({ url: 'records' })).toBe(401)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([1, 0])
      },
    },
  ],
}
