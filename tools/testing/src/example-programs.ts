import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'

import { createTokenManager, generalIssuer, type TokenManager } from '@tokenlane/core'
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { expect, onTestFinished, test, vi } from 'vitest'

/** Runs the program of an example, which calls the sandbox's general API; it ends with the test at the latest. */
export function runProgram(
  main: URL,
  sandbox: Sandbox,
  args: readonly string[] = [],
): ChildProcessByStdio<null, Readable, Readable> {
  const folder = mkdtempSync(join(tmpdir(), 'example-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, sandbox.ca)
  const program = spawn(process.execPath, [fileURLToPath(main), ...args], {
    env: {
      ...process.env,
      PORT: '0',
      ...environmentOf(sandbox),
      NODE_EXTRA_CA_CERTS: caFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    program.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  return program
}

/** Starts the sandbox for one test of an example. This process trusts it from then on. */
export async function openSandbox(): Promise<Sandbox> {
  const sandbox = await startSandbox()
  onTestFinished(() => sandbox.close())
  tls.setDefaultCACertificates([...tls.getCACertificates(), sandbox.ca])
  return sandbox
}

/** Starts the sandbox and a manager of its general API, for an example that is given one. */
export async function openGeneralApi(): Promise<{ sandbox: Sandbox; tokens: TokenManager }> {
  const sandbox = await openSandbox()
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: sandbox.authUrl, credentials: sandbox.credentials.general }),
    },
    apis: [{ baseUrl: sandbox.apiUrl, issuer: 'general' }],
  })
  onTestFinished(() => tokens.close())
  return { sandbox, tokens }
}

/** Starts the sandbox and sets the variables of its general API, for an example that reads them in this process. */
export async function openByEnvironment(): Promise<Sandbox> {
  const sandbox = await openSandbox()
  for (const [name, value] of Object.entries(environmentOf(sandbox))) vi.stubEnv(name, value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  return sandbox
}

/** Returns the variables by which the examples find the general API. */
export function environmentOf({ authUrl, apiUrl, credentials }: Sandbox): Record<string, string> {
  return {
    AUTH_URL: authUrl,
    API_URL: apiUrl,
    GENERAL_CLIENT_ID: credentials.general.clientId,
    GENERAL_CLIENT_SECRET: credentials.general.clientSecret,
  }
}

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
