import { expect } from 'vitest'

import type { ScenarioGroup } from '../../scenario.ts'

const prototype = Object.prototype as { resend?: unknown; cost?: unknown }

export const pollutedPrototype: ScenarioGroup = {
  subject: 'Options that other code has put on every object',
  scenarios: [
    {
      name: 'are none of the call: it is sent, and again after a 401',
      async run(stage) {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        // `tokenlane` itself would end every call of axios 1.7 to 1.12, with tokens or without
        Object.assign(prototype, { resend: false, cost: -1 })
        try {
          expect(await client.status({ url: 'records', tokenlane: {} })).toBe(200)
        } finally {
          delete prototype.resend
          delete prototype.cost
        }
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
  ],
}
