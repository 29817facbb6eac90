import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { exchange } from '../../test/client.ts'
import { startSandbox, type Sandbox } from '../index.ts'
import type { Realm } from '../realm.ts'
import { createCluster } from './cluster.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({
    issuers: {
      general: { workloadIdentity: 'single-use' },
      weblink: { workloadIdentity: true, clientAuthentication: 'client_secret_basic', scope: '' },
    },
  })
})
afterAll(() => sandbox.close())
afterEach(() => {
  vi.useRealTimers()
  sandbox.control.clearJournal()
})

/** The names of the broken rules of assertions and clients. Tokens that nobody needs are a matter of other rules. */
const rulesBroken = (): string[] =>
  sandbox.control
    .verdict()
    .findings.map(({ rule }) => rule)
    .filter((rule) => /assertion|client/.test(rule))
    .toSorted()

/** Asks for a token with an assertion. */
async function ask(realm: Realm, assertion: string): Promise<string> {
  const { clientId } = sandbox.credentials[realm]
  const { status } = await exchange(sandbox, sandbox.control.state().issuers[realm].tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  return `${status} ${sandbox.control.journal({ limit: 1 })[0]?.reason ?? ''}`
}

test('the variables name a file with an assertion where one may be sent again', async () => {
  const variables = sandbox.control.environment()
  const file = variables['WEBLINK_ASSERTION_FILE'] ?? ''
  expect(await ask('weblink', readFileSync(file, 'utf8'))).toMatch(/^200 issued/)
  expect(sandbox.control.environment()).toEqual(variables)
  expect(variables).not.toHaveProperty('GENERAL_ASSERTION_FILE')
})

test('assertions of a cluster beside private_key_jwt are refused at the start', async () => {
  const general = { clientAuthentication: 'private_key_jwt', workloadIdentity: true } as const
  await expect(startSandbox({ issuers: { general } })).rejects.toThrow(
    "issuers.general.workloadIdentity\" must be false if clientAuthentication is 'private_key_jwt'",
  )
})

test.each(['general', 'weblink'] as const)(
  'the %s issuer takes an assertion of the cluster',
  async (realm) => {
    expect(await ask(realm, sandbox.control.makeAssertion(realm))).toMatch(/^200 issued/)
  },
)

test('an assertion that was sent before is refused where each counts once, and taken where it does not', async () => {
  const once = sandbox.control.makeAssertion('general')
  expect(await ask('general', once)).toMatch(/^200/)
  expect(await ask('general', once)).toBe('401 client_assertion refused: it was sent before')
  const often = sandbox.control.makeAssertion('weblink')
  expect(await ask('weblink', often)).toMatch(/^200/)
  expect(await ask('weblink', often)).toMatch(/^200/)
})

test('an assertion that is wrong is refused with the reason, and is a finding of the verdict', async () => {
  const make = sandbox.control.makeAssertion
  const wrong = {
    'it is for another audience': make('general', { audience: 'https://other.example.com' }),
    'it has expired': make('general', { lifetime: -1_000 }),
    'its signature is wrong': `${make('general').slice(0, -4)}AAAA`,
    'its key is unknown to the cluster, or was rotated out': 'not a JWT',
  }
  for (const [reason, assertion] of Object.entries(wrong))
    expect(await ask('general', assertion)).toBe(`401 client_assertion refused: ${reason}`)
  expect(rulesBroken()).toEqual(['client-authentication', 'expired-assertion', 'foreign-assertion'])
})

test('a client that sends an assertion twice is blamed where each counts once, and not where a file is read again', async () => {
  const [once, often] = [sandbox.control.makeAssertion('general'), sandbox.control.makeAssertion('weblink')]
  for (const assertion of [often, often]) await ask('weblink', assertion)
  await ask('general', once)
  expect(rulesBroken()).toEqual([])
  await ask('general', once)
  expect(rulesBroken()).toEqual(['replayed-assertion'])
})

test('an assertion that only the clock of the issuer lets expire is not a mistake of its client', async () => {
  sandbox.control.setIssuerClock('weblink', 3_600_000)
  expect(await ask('weblink', sandbox.control.makeAssertion('weblink'))).toMatch(/^401 .*has expired/)
  sandbox.control.setIssuerClock('weblink', 0)
  expect(rulesBroken()).toEqual([])
})

test('a client that keeps the assertion of a file is warned when half of what was left after the swap is over', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] })
  const kept = readFileSync(sandbox.control.projectAssertion('weblink', { lifetime: 100_000 }), 'utf8')
  const start = Date.now()
  vi.advanceTimersByTime(80_000)
  vi.useRealTimers()
  const after = async (ms: number): Promise<string[]> => {
    vi.useFakeTimers({ toFake: ['Date'], now: start + ms })
    await ask('weblink', kept)
    return rulesBroken()
  }
  expect(await after(89_999)).toEqual([])
  expect(await after(90_000)).toEqual(['stale-assertion'])
  const severities = new Map(sandbox.control.verdict().findings.map(({ rule, severity }) => [rule, severity]))
  expect(severities.get('stale-assertion')).toBe('warning')
  expect(await after(101_000)).toEqual(['expired-assertion', 'stale-assertion'])
})

test('keys of the cluster rotate with and without an overlap', async () => {
  const old = sandbox.control.makeAssertion('weblink')
  sandbox.control.rotateClusterKeys('weblink', { overlap: true })
  expect(await ask('weblink', old)).toMatch(/^200/)
  sandbox.control.rotateClusterKeys('weblink')
  expect(await ask('weblink', old)).toMatch(/^401 .*rotated out/)
  expect(await ask('weblink', sandbox.control.makeAssertion('weblink'))).toMatch(/^200/)
})

test('a projected file has an assertion of the new key as soon as the keys rotate', async () => {
  const file = sandbox.control.projectAssertion('weblink')
  const old = readFileSync(file, 'utf8')
  sandbox.control.rotateClusterKeys('weblink')
  expect(await ask('weblink', old)).toMatch(/^401 .*rotated out/)
  expect(await ask('weblink', readFileSync(file, 'utf8'))).toMatch(/^200/)
})

test('a client whose secrets are dropped proves itself with an assertion alone', async () => {
  sandbox.control.dropSecrets('general')
  expect(sandbox.control.state().issuers.general.acceptedSecrets).toBe(0)
  expect(sandbox.control.environment()).not.toHaveProperty('GENERAL_CLIENT_SECRET')
  expect(await ask('general', sandbox.control.makeAssertion('general'))).toMatch(/^200/)
})

test('an assertion that was sent is remembered until it expires, however many come after it', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const cluster = createCluster(
    { origin: 'https://auth.example.com', subject: 'a', singleUse: true },
    Date.now,
  )
  const long = cluster.assertion({ lifetime: 3_600_000 })
  expect(cluster.judge(long)).toEqual({ flaws: [] })
  for (let sent = 0; sent < 1_100; sent += 1) {
    expect(cluster.judge(cluster.assertion({ lifetime: 2_000 }))).toEqual({ flaws: [] })
    vi.advanceTimersByTime(1_000)
  }
  expect(cluster.judge(long).flaws).toEqual(['replayed-assertion'])
})

test('a projected file is replaced at four fifths of its life by a swapped link, and removed at the end', () => {
  vi.useFakeTimers()
  const cluster = createCluster(
    { origin: 'https://auth.example.com', subject: 'a', singleUse: false },
    Date.now,
  )
  const path = cluster.project({ lifetime: 10_000 })
  const version = (): string => readlinkSync(join(dirname(path), '..data'))
  const [first, text] = [version(), readFileSync(path, 'utf8')]
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
  vi.advanceTimersByTime(7_999)
  expect(version()).toBe(first)
  vi.advanceTimersByTime(1)
  expect(version()).not.toBe(first)
  expect(readFileSync(path, 'utf8')).not.toBe(text)
  expect(cluster.judge(readFileSync(path, 'utf8'))).toEqual({ flaws: [] })
  cluster.close()
  expect(existsSync(dirname(path))).toBe(false)
})
