import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sums, writeDigests } from '../src/digests.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'digests-'))
  for (const name of ['core', 'fetch']) writeFileSync(join(folder, `${name}.tgz`), `bytes of ${name}`)
  writeDigests(folder)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs the check of the workflow `release` as it stands there, with the digest that the job before it gave. */
async function check(digest?: string): Promise<{ ok: boolean; printed: string }> {
  const workflow = readFileSync(new URL('../../../.github/workflows/release.yml', import.meta.url), 'utf8')
  const [, script = ''] = /run: \|\n((?: {10}.*sha512sum.*\n)+)/.exec(workflow) ?? []
  expect(script).toContain(`sha512sum --check --strict ${sums}`)
  const run = promisify(execFile)
  const own = (await run('sh', ['-c', `sha512sum < ${sums}`], { cwd: folder })).stdout.trim()
  const env = { ...process.env, LC_ALL: 'C', DIGEST: digest ?? own }
  return run('sh', ['-ec', script], { cwd: folder, env }).then(
    ({ stdout }) => ({ ok: true, printed: stdout }),
    (error: { stdout: string }) => ({ ok: false, printed: error.stdout }),
  )
}

test('the tarballs that were tested pass', async () => {
  expect(await check()).toEqual({ ok: true, printed: 'core.tgz: OK\nfetch.tgz: OK\n' })
})

test('a tarball with one changed byte is named, and nothing is staged', async () => {
  writeFileSync(join(folder, 'fetch.tgz'), 'bytes of fetcH')
  expect(await check()).toEqual({ ok: false, printed: 'core.tgz: OK\nfetch.tgz: FAILED\n' })
})

test('another list than that of the job before is refused', async () => {
  const before = (
    await promisify(execFile)('sh', ['-c', `sha512sum < ${sums}`], { cwd: folder })
  ).stdout.trim()
  writeFileSync(join(folder, 'fetch.tgz'), 'bytes of fetcH')
  writeDigests(folder)
  expect(await check(before)).toEqual({ ok: false, printed: '' })
})
