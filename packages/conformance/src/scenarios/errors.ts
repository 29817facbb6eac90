import { expect } from 'vitest'

import { provocations, provoke, type Provocation } from '../every-error.ts'
import type { Scenario, ScenarioGroup } from '../scenario.ts'
import { oneByOne, type Stage } from '../stage.ts'
import { errorKind } from '../driver.ts'

export const errors: ScenarioGroup = {
  subject: 'An error',
  scenarios: [
    {
      name: "with status 404 or 503 is the client's own",
      needs: {
        feature: 'httpErrors',
        async instead(stage) {
          const { client } = stage.open()
          for (const status of [404, 503])
            expect((await client.send({ url: `status/${status}` })).status).toBe(status)
        },
      },
      async run(stage) {
        const { client } = stage.open()
        for (const status of [404, 503]) {
          const error = await client.failure({ url: `status/${status}` })
          expect(stage.errors.statusOf(error)).toBe(status)
          const api = await stage.scripted(() => ({ status }))
          expect(errorKind(error)).toEqual(errorKind(await stage.bare().failure({ url: api.url })))
        }
      },
    },
    network('on a refused connection', async (stage) => {
      const api = await stage.scripted()
      await api.close()
      return api.url
    }),
    network('on a connection that breaks', async (stage) => (await stage.scripted(() => 'cut')).url),
    {
      name: 'from the issuer is TOKEN_REQUEST_REFUSED, and nothing is sent',
      async run(stage) {
        const { client } = stage.open()
        stage.sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
        expect(await client.refusal({ url: 'records' })).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
        expect(stage.calls()).toBe(0)
      },
    },
    {
      name: 'from a full queue is QUEUE_FULL, and nothing is sent',
      async run(stage) {
        const { tokens, client } = stage.open({ ratePolicy: { ...oneByOne, maxQueued: 0 } })
        // a call that waits for a token counts as waiting, too
        await tokens.getToken('weblink')
        const held = await stage.hold(client)
        expect(await client.refusal({ url: 'records' })).toMatchObject({ code: 'QUEUE_FULL' })
        expect(stage.calls()).toBe(1)
        await held.release()
      },
    },
    {
      name: 'from waiting too long is QUEUE_TIMEOUT, and nothing is sent',
      async run(stage) {
        const { tokens, client } = stage.open({ ratePolicy: { ...oneByOne, maxWait: 50 } })
        await tokens.getToken('weblink')
        const held = await stage.hold(client)
        expect(await client.refusal({ url: 'records' })).toMatchObject({ code: 'QUEUE_TIMEOUT' })
        expect(stage.calls()).toBe(1)
        await held.release()
      },
    },
    {
      name: 'from a closed manager is MANAGER_CLOSED, and nothing is sent',
      async run(stage) {
        const { tokens, client } = stage.open()
        await tokens.close()
        expect(await client.refusal({ url: 'records' })).toMatchObject({ code: 'MANAGER_CLOSED' })
        expect([stage.calls(), stage.tokenRequests()]).toEqual([0, 0])
      },
    },
    {
      name: 'in the `tokenlane` options of a call is INVALID_OPTIONS, and nothing is sent',
      needs: {
        feature: 'callOptions',
        async instead(stage) {
          const { client } = stage.open()
          expect(await client.status({ url: 'records', tokenlane: { priority: 1.5 } })).toBe(200)
        },
      },
      async run(stage) {
        const { client } = stage.open()
        for (const tokenlane of [{ priority: 1.5 }, { prioritty: 1 } as object]) {
          const error = await client.refusal({ url: 'records', tokenlane })
          expect(error).toMatchObject({ code: 'INVALID_OPTIONS' })
        }
        expect([stage.calls(), stage.tokenRequests()]).toEqual([0, 0])
      },
    },
    {
      name: `reveals no secret and no token in any of ${provocations.length} provoked outcomes`,
      needs: {
        feature: 'callOptions',
        instead: (stage) =>
          showNoSecret(
            stage,
            provocations.filter(({ tokenlane }) => tokenlane === undefined),
          ),
      },
      run: (stage) => showNoSecret(stage, provocations),
    },
  ],
}

/** An API that cannot be reached: its slot must come free each time. */
function network(name: string, open: (stage: Stage) => Promise<string>): Scenario {
  return {
    name: `${name} is the client's own, and the slot is released`,
    async run(stage) {
      const url = await open(stage)
      const { client } = stage.open({ apis: [{ baseUrl: url, ratePolicy: oneByOne }] })
      const bare = errorKind(await stage.bare().failure({ url }))
      for (const path of ['a', 'b']) {
        const error = await client.failure({ url: url + path })
        expect(stage.errors.isNetwork(error), String(error)).toBe(true)
        expect(errorKind(error)).toEqual(bare)
      }
    },
  }
}

async function showNoSecret(stage: Stage, provoked: readonly Provocation[]): Promise<void> {
  for (const provocation of provoked) {
    const { code, leaks } = await provoke(provocation, (tokens) => {
      const client = stage.client(tokens)
      return async (url, options) => (await client.send({ url, ...options })).native
    })
    expect(leaks, provocation.name).toEqual([])
    expect(code ?? '', provocation.name).toMatch(provocation.code ?? /^$/)
  }
}
