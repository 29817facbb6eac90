import { expect } from 'vitest'

import type { ScenarioGroup } from '../../scenario.ts'

/** Hooks, interceptors and plug-ins read more of an error than its message, and fail in its place where that is not there. */
export const errorMembers: ScenarioGroup = {
  subject: 'An error of Tokenlane',
  scenarios: [
    {
      // JustinBeckwith/retry-axios#95, arthurfiorette/axios-cache-interceptor#433
      name: 'has what the client gives to every error of its own, which is not printed',
      async run(stage) {
        const { tokens, client } = stage.open()
        const headers = { 'x-own-secret': 'own-secret-value' }
        await tokens.close()
        const error = await client.refusal({ url: 'records', headers })
        for (const name of stage.errors.members ?? [])
          expect((error as unknown as Record<string, unknown>)[name], name).toBeDefined()
        expect(JSON.stringify(error)).not.toContain('own-secret-value')
        expect(JSON.stringify(error)).toContain('MANAGER_CLOSED')
      },
    },
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
