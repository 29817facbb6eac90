// Long: eight processes that share a Redis server.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tokenlane/sandbox'
import { startRedis } from '@tokenlane/testing/redis-server'
import { expect, test, vi } from 'vitest'
import type { Made } from './support/identity-process.ts'

const size = 8
/** A machine that is busy for a second or two must not make tokens expire on their way. */
const lifetime = 4_000
/** Calls that the fleet makes before and after each change. */
const between = 400
const patience = { interval: 20 }

test('five clients in eight processes lose no call while the secret is dropped and an assertion takes over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'from-secret-'))
  const caFile = join(folder, 'ca.pem')
  await using sandbox = await startSandbox({
    caFile,
    tokenLifetime: lifetime,
    issuers: { general: { workloadIdentity: true } },
  })
  const redis = await startRedis()
  const { control, authUrl, apiUrl, credentials } = sandbox
  const { tokenEndpoint } = control.state().issuers.general
  const path = control.projectAssertion('general', { lifetime: 5_000 })
  const order = { authUrl, apiUrl, tokenEndpoint, path, redis: redis.url, ...credentials.general }
  const fleet = Array.from({ length: size }, () =>
    fork(join(import.meta.dirname, './support/identity-process.ts'), {
      env: { ...process.env, ORDER: JSON.stringify(order), NODE_EXTRA_CA_CERTS: caFile },
    }),
  )
  try {
    await Promise.all(fleet.map((child) => once(child, 'message')))
    const counts = () => control.counts()
    const answered = (): number =>
      Object.values(counts().apis.general).reduce((sum, one) => sum + Number(one), 0)
    const more = async (): Promise<void> => {
      const before = answered()
      const issued = counts().issuers.general.issued
      await vi.waitFor(() => {
        expect(answered()).toBeGreaterThan(before + between)
        expect(counts().issuers.general.issued).toBeGreaterThan(issued + 1)
      }, patience)
    }
    await more()
    const bySecret = counts().issuers.general
    expect(bySecret.refused).toBe(0)
    const started = performance.now()
    control.dropSecrets('general')
    await more()
    control.rotateClusterKeys('general', { overlap: true })
    await more()
    const made = await Promise.all(fleet.map(ended))
    const { issued, refused } = counts().issuers.general
    const elapsed = performance.now() - started
    expect(made.flatMap(({ lost }) => lost)).toEqual([])
    // one process is told that the secret is refused, and each that asks again 30 s later
    expect(refused).toBeLessThanOrEqual(1 + elapsed / 30_000)
    // a token serves for nine tenths of its life: more requests than that were asked for twice
    expect(issued - bySecret.issued).toBeLessThanOrEqual(1 + elapsed / (0.9 * lifetime) + 1)
    expect(control.verdict().findings.map(({ rule }) => rule)).not.toContain('stampede')
    expect(made.some(({ rotated }) => rotated > 0)).toBe(true)
  } finally {
    for (const child of fleet) child.kill('SIGKILL')
    await redis.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

async function ended(child: ChildProcess): Promise<Made> {
  const outcome = once(child, 'message')
  child.send('stop')
  return ((await outcome) as [Made])[0]
}
