import tls from 'node:tls'

import { createTokenManager, generalIssuer, type TokenManager } from '@tokenlane/core'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { onTestFinished, vi } from 'vitest'

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
