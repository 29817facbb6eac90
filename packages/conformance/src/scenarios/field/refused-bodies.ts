import { gzipSync } from 'node:zlib'

import { expect, vi } from 'vitest'

import type { Scenario, ScenarioGroup } from '../../scenario.ts'
import { rejection, type ScriptedResponse } from '../../scripted-api.ts'
import { patiently } from '../../stage.ts'

const challenge = { ...rejection.headers, 'content-type': 'text/html' }

/** What comes after the status says nothing about the token. */
export const refusedBodies: ScenarioGroup = {
  subject: 'A 401 with a body that',
  scenarios: [
    // axios/axios#6935
    refused('is cut in the middle', {
      headers: { ...challenge, 'content-length': '1000' },
      body: '<html>',
      broken: true,
    }),
    // axios/axios#3435
    refused('says gzip and is not', {
      headers: { ...challenge, 'content-encoding': 'gzip' },
      body: '<html>',
    }),
    // axios/axios#4806
    refused('never ends', { headers: challenge, body: '<html>', endless: true }),
    refused('is a megabyte', { headers: challenge, body: 'x'.repeat(1_000_000) }),
    // axios/axios#1187
    refused('is gzip of 100 megabytes', {
      headers: { ...challenge, 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(100_000_000), { level: 9 }),
    }),
  ],
}

function refused(what: string, response: Partial<ScriptedResponse>): Scenario {
  return {
    name: `${what} renews the token, and the call is sent again`,
    needs: {
      feature: 'statusFirst',
      async instead(stage) {
        const api = await stage.scripted()
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        expect(await client.status({ url: api.url })).toBe(200)
      },
    },
    async run(stage) {
      const api = await stage.scripted((_, number) =>
        number === 1 ? { status: 401, ...response } : { status: 200, body: 'fine' },
      )
      const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url }] })
      await stage.revoke(tokens)
      expect((await client.send({ url: api.url })).text).toBe('fine')
      expect([api.requests.length, stage.tokenRequests()]).toEqual([2, 1])
      await vi.waitFor(() => expect(api.unfinished()).toBe(0), patiently)
    },
  }
}
