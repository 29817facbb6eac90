import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Probe } from '../src/probe.ts'
import { runProbe } from '../src/run-probe.ts'
import { startTlsServers, type TlsServers } from '../src/tls-servers.ts'

let servers: TlsServers

beforeAll(async () => {
  servers = await startTlsServers()
})

afterAll(() => servers[Symbol.asyncDispose]())

describe.each([
  ['--tls-min-v1.0', { flags: ['--tls-min-v1.0'] }],
  ['tls.DEFAULT_MIN_VERSION assigned at run time', { flags: [], assign: 'TLSv1' as const }],
])('with %s', (_how, options) => {
  let probe: Probe

  // a whole process with all clients takes its time on a machine that is busy
  beforeAll(async () => {
    probe = await runProbe(servers, { node: process.execPath, ...options })
  }, 120_000)

  const found = (ways: 'bare' | 'managed', versions: readonly string[]): string[] =>
    probe.rows
      .filter(({ version }) => versions.includes(version))
      .map(({ client, version, [ways]: outcome }) => `${client}, ${version}: ${outcome}`)

  test('every bare client speaks TLS 1.0 and 1.1', () => {
    expect(probe.floor).toBe('TLSv1')
    const outcomes = found('bare', ['TLSv1', 'TLSv1.1'])
    expect(outcomes.length).toBeGreaterThan(20)
    for (const outcome of outcomes) expect(outcome).toMatch(/: works$/)
  })

  test('with tokens, no client does, nor does a token request', () => {
    for (const outcome of found('managed', ['TLSv1', 'TLSv1.1']))
      expect(outcome).toMatch(
        /^token request,.*: INSECURE_TRANSPORT$|: (?:EPROTO|ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)$/,
      )
  })

  test('TLS 1.2 and 1.3 work', () => {
    for (const outcome of found('managed', ['TLSv1.2', 'TLSv1.3'])) expect(outcome).toMatch(/: works$/)
  })
})
