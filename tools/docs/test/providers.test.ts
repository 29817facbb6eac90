import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { createFetch } from '@tokenlane/fetch'
import type { TokenManager } from '@tokenlane/core'
import { type IssuerSettings, startSandbox } from '@tokenlane/sandbox'
import { afterEach, expect, test, vi } from 'vitest'
import { root, writeBlocks } from './blocks.ts'

// The code of each provider's section gets a token from a sandbox whose token endpoint is as the provider's documentation
// says. Every other scope and every other way to authenticate is refused there.

const page = readFileSync(new URL('docs/guide/providers.md', root), 'utf8')

/** The host in the place of the sandbox's, and what its token endpoint asks for; in the order of the sections. */
const providers: Readonly<Record<string, { host: string } & IssuerSettings & { form?: object }>> = {
  keycloak: {
    host: 'https://keycloak.example.com',
    tokenPath: '/realms/company/protocol/openid-connect/token',
  },
  okta: {
    host: 'https://company.okta.com',
    tokenPath: '/oauth2/default/v1/token',
    clientAuthentication: 'client_secret_basic',
    scope: 'reports.read',
  },
  auth0: {
    host: 'https://company.eu.auth0.com',
    tokenPath: '/oauth/token',
    form: { audience: 'https://reports.example.com' },
  },
  'entra-id': {
    host: 'https://login.microsoftonline.com',
    tokenPath: '/TENANT_ID/oauth2/v2.0/token',
    scope: 'api://API_CLIENT_ID/.default',
  },
  cognito: {
    host: 'https://company.auth.eu-central-1.amazoncognito.com',
    tokenPath: '/oauth2/token',
    scope: 'reports/read',
  },
  ping: {
    host: 'https://auth.pingone.eu',
    tokenPath: '/ENVIRONMENT_ID/as/token',
    scope: 'reports:read',
  },
}

const authorities = tls.getCACertificates()
afterEach(() => {
  vi.unstubAllEnvs()
  tls.setDefaultCACertificates(authorities)
})

test('each section with code is tested', () => {
  expect(page.match(/^```ts$/gm)).toHaveLength(Object.keys(providers).length)
})

test.each(Object.entries(providers).map(([name, shape], index) => [name, index + 1, shape] as const))(
  'the code for %s gets a token, and its API is called with it',
  async (name, block, shape) => {
    const { host, form = {}, ...settings } = shape
    await using sandbox = await startSandbox({ issuers: { general: { scope: '', ...settings } } })
    tls.setDefaultCACertificates([...authorities, sandbox.ca])
    const { clientId, clientSecret } = sandbox.credentials.general
    vi.stubEnv('REPORTS_CLIENT_ID', clientId)
    vi.stubEnv('REPORTS_CLIENT_SECRET', clientSecret)
    expect(page).toContain(`'${host}${settings.tokenPath}'`)
    const written = writeBlocks(`providers-${name}`, (code) =>
      code.replaceAll(host, sandbox.authUrl).replaceAll('https://reports.example.com/', sandbox.apiUrl),
    )
    const file = new URL(`docs-guide-providers-md-${block}.ts`, written)
    const { tokens } = (await import(/* @vite-ignore */ file.href)) as { tokens: TokenManager }
    const response = await createFetch(tokens)(`${sandbox.apiUrl}records`)
    expect(response.status).toBe(200)
    await response.body?.cancel()
    const [request] = sandbox.control.journal({ target: 'general-issuer' })
    expect(request).toMatchObject({ path: settings.tokenPath, decision: 'issued' })
    expect(page).toContain(Object.values(form).join())
    await tokens.close()
  },
)

test('the overview names the version of each server on npm from which tests get tokens', () => {
  const catalog = readFileSync(new URL('pnpm-workspace.yaml', root), 'utf8')
  const rows = page.matchAll(/^\| (\S+) +\| (\d\S+) +\|/gm)
  const named = Array.from(rows, ([, name, version]) => `${name}: ${version}`)
  const pinned = new Set(catalog.replaceAll("'", '').split(/\s*\n\s*/))
  const ofDebian = ['Authlib: 1.2.0', 'django-oauth-toolkit: 1.7.0', 'glewlwyd: 2.7.5']
  expect(named.filter((each) => !pinned.has(each))).toEqual(ofDebian)
  expect(named).toHaveLength(8)
})
