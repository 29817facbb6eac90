import { expect } from 'vitest'

import type { Scenario, ScenarioGroup } from '../../scenario.ts'
import { oneByOne, type Stage } from '../../stage.ts'
import type { TestClient } from '../../test-client.ts'

/** Hooks, interceptors and plug-ins read more of an error than its message, and fail in its place where that is not there. */
export const errorMembers: ScenarioGroup = {
  subject: 'An error of Tokenlane',
  scenarios: [
    // JustinBeckwith/retry-axios#95, arthurfiorette/axios-cache-interceptor#433
    members('of a manager that is closed', 'MANAGER_CLOSED', async (stage) => {
      const { tokens, client } = stage.open()
      await tokens.close()
      return { client }
    }),
    members('of a token that is refused', 'TOKEN_REQUEST_REFUSED', async (stage) => {
      stage.sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
      return stage.open()
    }),
    members('of a turn that does not come', 'QUEUE_TIMEOUT', async (stage) => {
      const { tokens, client } = stage.open({ ratePolicy: { ...oneByOne, maxWait: 100 } })
      // the call that holds the slot waits for nothing
      await tokens.getToken('weblink')
      const held = await stage.hold(client)
      return { client, end: () => held.release() }
    }),
    {
      name: "is not retried by the client's own retries",
      needs: {
        feature: 'retries',
        async instead(stage) {
          const { client } = stage.open()
          stage.sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
          expect(await client.refusal({ url: 'records' })).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
          expect(stage.tokenRequests()).toBe(1)
        },
      },
      async run(stage) {
        const finished: string[] = []
        const { client } = stage.open({ observe: ({ type }) => void finished.push(type) })
        stage.sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
        const error = await client.refusal({ url: 'records', retries: 3 })
        expect(error).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
        expect(finished.filter((type) => type === 'call.finished')).toHaveLength(1)
      },
    },
  ],
}

type Open = (stage: Stage) => Promise<{ readonly client: TestClient; readonly end?: () => Promise<void> }>

function members(what: string, code: string, open: Open): Scenario {
  return {
    name: `${what} has what the client gives to every error of its own, which is not printed`,
    async run(stage) {
      const { client, end } = await open(stage)
      const headers = { 'x-own-secret': 'own-secret-value' }
      const error = await client.refusal({ url: 'records', headers })
      for (const name of stage.errors.members ?? [])
        expect((error as unknown as Record<string, unknown>)[name], name).toBeDefined()
      expect(JSON.stringify(error)).not.toContain('own-secret-value')
      expect(JSON.stringify(error)).toContain(code)
      await end?.()
    },
  }
}
