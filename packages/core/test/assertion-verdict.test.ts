import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { startSandbox, type Realm, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { AssertionProvider } from '../src/credentials/credentials.ts'
import { createTokenManager, oauthIssuer } from '../src/index.ts'
import { fileAssertion } from '../src/node.ts'

// At issuers that say what was wrong with the assertions of a client.

const trusted = tls.getCACertificates()
let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({
    tokenLifetime: 60_000,
    issuers: {
      general: { metadata: true, workloadIdentity: true },
      weblink: { metadata: true, workloadIdentity: 'single-use' },
    },
  })
  tls.setDefaultCACertificates([...trusted, sandbox.ca])
})
afterAll(async () => {
  tls.setDefaultCACertificates(trusted)
  await sandbox.close()
})
beforeEach(() => {
  sandbox.control.clearJournal()
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] })
})
afterEach(() => vi.useRealTimers())

/** Gets two tokens 95 s apart, and returns what the verdict says of the assertions. Files are replaced in between. */
async function rulesBroken(realm: Realm, assertion: AssertionProvider): Promise<string[]> {
  const { AUTH_URL = '', WEBLINK_AUTH_URL = '' } = sandbox.control.environment()
  const { clientId } = sandbox.credentials[realm]
  const [issuer, scope] = realm === 'general' ? [AUTH_URL] : [WEBLINK_AUTH_URL, 'WebLinkAPI']
  const credentials = { clientId, assertion }
  const tokens = createTokenManager({
    issuers: { server: oauthIssuer({ issuer, credentials, renewBefore: 0, ...(scope && { scope }) }) },
    apis: [],
  })
  for (const wait of [0, 95_000]) {
    vi.advanceTimersByTime(wait)
    // one that is refused is in the verdict, too
    await tokens.getToken('server').catch(() => {})
  }
  return sandbox.control.verdict().findings.flatMap(({ rule }) => (rule.includes('assertion') ? [rule] : []))
}

test('fileAssertion breaks no rule when the file is replaced, and an assertion that is kept does', async () => {
  const file = (): string => sandbox.control.projectAssertion('general', { lifetime: 100_000 })
  expect(await rulesBroken('general', fileAssertion(file()))).toEqual([])
  expect(sandbox.control.counts().issuers.general.issued).toBe(2)
  const kept = readFileSync(file(), 'utf8')
  expect(await rulesBroken('general', () => kept)).toEqual(['stale-assertion'])
})

test('a function that makes each assertion anew breaks no rule, and one that sends it twice does', async () => {
  const { makeAssertion } = sandbox.control
  expect(await rulesBroken('weblink', () => makeAssertion('weblink'))).toEqual([])
  expect(sandbox.control.counts().issuers.weblink.issued).toBe(2)
  const once = makeAssertion('weblink', { lifetime: 200_000 })
  expect(await rulesBroken('weblink', () => once)).toEqual(['replayed-assertion'])
})
