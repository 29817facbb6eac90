import { expect } from 'vitest'

import type { ScenarioGroup } from '../../scenario.ts'

const prototype = Object.prototype as { tokenlane?: unknown; resend?: unknown }

export const pollutedPrototype: ScenarioGroup = {
  subject: 'Options that other code has put on every object',
  scenarios: [
    {
      name: 'are none of the call: it is sent, and again after a 401',
      async run(stage) {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        Object.assign(prototype, { tokenlane: { resend: false, cost: -1 }, resend: false })
        try {
          // not from there
          expect(await client.status({ url: 'records', tokenlane: undefined })).toBe(200)
        } finally {
          delete prototype.tokenlane
          delete prototype.resend
        }
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
  ],
}
