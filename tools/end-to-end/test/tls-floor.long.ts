// Long: a process for each version of TLS.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Probe } from './tls/probe.ts'
import { runProbe } from './tls/run-probe.ts'
import { startTlsServers, type TlsServers, type TlsVersion } from './tls/tls-servers.ts'

let servers: TlsServers

beforeAll(async () => {
  servers = await startTlsServers()
})

afterAll(() => servers[Symbol.asyncDispose]())

const old: readonly TlsVersion[] = ['TLSv1', 'TLSv1.1']
const modern: readonly TlsVersion[] = ['TLSv1.2', 'TLSv1.3']
const outcomes = (probe: Probe, ways: 'bare' | 'managed', versions: readonly TlsVersion[]): string[] =>
  probe.rows
    .filter(({ version }) => versions.includes(version))
    .map(({ client, version, [ways]: outcome }) => `${client}, ${version}: ${outcome}`)

// a whole process with all clients takes its time on a machine that is busy
const patience = 120_000

describe("with Node's own lowest version", () => {
  let probe: Probe
  beforeAll(async () => {
    probe = await runProbe(servers, { node: process.execPath })
  }, patience)

  test('no client sends a token over TLS 1.0 and 1.1, nor does a token request go out', () => {
    expect(probe.floor).toBe('TLSv1.2')
    const refused = outcomes(probe, 'managed', old)
    expect(refused.length).toBeGreaterThan(20)
    for (const outcome of refused)
      expect(outcome).toMatch(
        /^token request,.*: INSECURE_TRANSPORT$|: (?:EPROTO|ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)$/,
      )
  })

  test('TLS 1.2 and 1.3 work', () => {
    const allowed = outcomes(probe, 'managed', modern)
    expect(allowed.length).toBeGreaterThan(20)
    for (const outcome of allowed) expect(outcome).toMatch(/: works$/)
  })
})

describe.each([
  ['--tls-min-v1.0', { flags: ['--tls-min-v1.0'] }],
  ['tls.DEFAULT_MIN_VERSION assigned after a manager was created', { assign: 'TLSv1' as const }],
])('with %s', (_how, options) => {
  let probe: Probe
  beforeAll(async () => {
    probe = await runProbe(servers, { node: process.execPath, ...options })
  }, patience)

  test('every bare client speaks TLS 1.0 and 1.1', () => {
    expect(probe.floor).toBe('TLSv1')
    const bare = outcomes(probe, 'bare', [...old, ...modern])
    expect(bare.length).toBeGreaterThan(20)
    for (const outcome of bare) expect(outcome).toMatch(/: works$/)
  })

  test('nothing is sent with a token at any version', () => {
    const refused = outcomes(probe, 'managed', [...old, ...modern])
    expect(refused.length).toBeGreaterThan(20)
    for (const outcome of refused) expect(outcome).toMatch(/: INSECURE_TRANSPORT$/)
  })
})
