// Long: kills processes, one after the other.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fileTokenStore } from '../node.ts'

const writer = fileURLToPath(new URL('../../test/token-writer.ts', import.meta.url))
/** How often a writer is killed, out of two that write at the same time. */
const kills = Number(process.env['KILLS'] ?? 50)

const timeout = 60_000 + 1_000 * kills

test(
  'however often a writer is killed, entries stay whole, and the right to write is soon free again',
  { timeout },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'killed-'))
    const writers: ChildProcess[] = []
    onTestFinished(() => {
      for (const process of writers) process.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    })
    const start = async (first: number): Promise<void> => {
      const process = fork(writer, [folder, `${first}`])
      writers.push(process)
      const ended = once(process, 'exit').then(() => 'ended')
      expect(await Promise.race([once(process, 'message'), ended])).not.toBe('ended')
    }
    await Promise.all([start(0), start(1e6)])
    const store = fileTokenStore(folder)
    // in microseconds
    for (const [kill, moment] of fc.sample(fc.nat(20_000), { numRuns: kills, seed: 1 }).entries()) {
      await delay(moment / 1_000)
      writers.shift()?.kill('SIGKILL')
      // writes only if the name has not stayed locked
      await start(kill * 1e6)
      const { entry = '' } = Object(await store.claim('name', undefined, 1)) as { readonly entry?: string }
      expect(['', entry.slice(0, entry.indexOf(' ') + 1).repeat(500)]).toContain(entry)
    }
    for (const process of writers.splice(0)) process.kill('SIGKILL')
    // a writer that is killed while it writes leaves half a file, which counts as being written for a second
    const claim = await vi.waitFor(
      async () => {
        const found = await store.claim('name', undefined, 60_000)
        expect(found).not.toBe('locked')
        return Object(found) as { readonly fence?: string }
      },
      { timeout: 3_000 },
    )
    await store.write('name', claim.fence ?? '', 'the last', 60_000)
    expect(await store.claim('name', undefined, 60_000)).toHaveProperty('entry')
  },
)
