import { expect } from 'vitest'

import type { ScenarioGroup } from '../../scenario.ts'

const ofCalls = { resend: false, cost: -1 }

export const pollutedPrototype: ScenarioGroup = {
  subject: 'Options that other code has put on every object',
  scenarios: [
    {
      name: 'are none of the call: it is sent, and again after a 401',
      async run(stage) {
        const { tokens, client } = stage.open()
        // not from there
        const call = { url: 'records', tokenlane: undefined }
        // some versions of axios take no call then, with tokens or without
        const bare = await polluted({ tokenlane: ofCalls }, () =>
          stage
            .bare()
            .status(call)
            .catch(() => undefined),
        )
        stage.sandbox.control.resetCounts()
        await stage.revoke(tokens)
        const taken = bare !== undefined
        const status = polluted({ ...ofCalls, ...(taken && { tokenlane: ofCalls }) }, () =>
          client.status(taken ? call : { ...call, tokenlane: {} }),
        )
        expect(await status).toBe(200)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
  ],
}

/** Runs something while every object seems to have these members. */
async function polluted<T>(members: object, run: () => Promise<T>): Promise<T> {
  Object.assign(Object.prototype, members)
  try {
    return await run()
  } finally {
    for (const name of Object.keys(members)) Reflect.deleteProperty(Object.prototype, name)
  }
}
