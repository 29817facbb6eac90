import { expect } from 'vitest'

import type { ScenarioGroup } from '../../scenario.ts'

/** A process that was asked to end waits for its calls, but not for ever. */
export const shutdown: ScenarioGroup = {
  subject: 'A manager that closes',
  scenarios: [
    {
      // derive-to/derive#124, grafana/grafana-pathfinder-app#883
      name: 'waits for no call longer than its `timeout`, and says how many it did not wait for',
      async run(stage) {
        const { tokens, client } = stage.open()
        await tokens.getToken('weblink')
        const held = await stage.hold(client)
        expect(await tokens.close({ timeout: 1 })).toEqual({ calls: 1, tokenRequests: 0 })
        await held.release()
      },
    },
    {
      name: 'lets a call under way end with its response',
      async run(stage) {
        const { tokens, client } = stage.open()
        await tokens.getToken('weblink')
        const held = await stage.hold(client)
        const closed = tokens.close({ timeout: 60_000 })
        await held.release()
        expect(await closed).toEqual({ calls: 0, tokenRequests: 0 })
      },
    },
  ],
}
