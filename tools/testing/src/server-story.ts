import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { expect, onTestFinished, test } from 'vitest'

import { runProgram } from './run-program.ts'

/** Registers the test of an example that is a server and prints its URL. */
export function testServer(main: URL): void {
  test(
    'the server answers through an expiry and a refused secret, and ends in order',
    { timeout: 60_000 },
    async () => {
      const sandbox = await startSandbox()
      onTestFinished(() => sandbox.close())
      const server = runProgram(main, sandbox)
      const [url] = (await once(createInterface(server.stdout), 'line')) as [string]
      await mustAnswerThroughTrouble(url, sandbox)
      server.kill('SIGTERM')
      expect(await once(server, 'exit')).toEqual([0, null])
    },
  )
}

/** What every example that is a server does, whatever its framework: with a live token, an expired one, and none. */
export async function mustAnswerThroughTrouble(url: string, { control }: Sandbox): Promise<void> {
  const health = await fetch(new URL('/health', url))
  expect(health.status).toBe(200)
  expect(await health.json()).toMatchObject({ issuers: { general: { token: 'live' } } })

  control.expireTokens('general')
  const found = await fetch(new URL('/records/INV-0000001', url))
  expect(await found.json()).toMatchObject({ id: 'INV-0000001' })
  expect(control.counts().issuers.general.issued).toBe(2)

  control.expireTokens('general')
  control.rotateSecret('general')
  const refused = await fetch(new URL('/records/INV-0000002', url))
  expect(refused.status).toBe(503)
  expect(await refused.json()).toEqual({ code: 'TOKEN_REQUEST_REFUSED' })
  const unhealthy = await fetch(new URL('/health', url))
  expect(unhealthy.status).toBe(503)
  expect(await unhealthy.json()).toMatchObject({ issuers: { general: { token: 'none' } } })
}
