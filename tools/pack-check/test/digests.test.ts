import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sums, writeDigests } from '../src/pack.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'digests-'))
  for (const name of ['core', 'fetch']) writeFileSync(join(folder, `${name}.tgz`), `bytes of ${name}`)
  writeDigests(folder)
})
afterEach(() => rmSync(folder, { recursive: true }))

const workflow = readFileSync(new URL('../../../.github/workflows/release.yml', import.meta.url), 'utf8')

/** Runs the check of the workflow `release` as it stands there, with the digest that the job before it gave. */
async function check(digest?: string): Promise<{ ok: boolean; printed: string }> {
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

test('settings and hooks that lie between the tarballs do not run where they are staged', async () => {
  const [, path = '.'] =
    /name: tarballs\n(?: +#.*\n)* +path: (.+)\n {6}- name: The tarballs/.exec(workflow) ?? []
  const [, script = ''] = /Stage what npm does not have\n +run: \|\n((?: {10}.*\n)+)/.exec(workflow) ?? []
  const workspace = join(folder, 'workspace')
  const artifact = join(workspace, path)
  mkdirSync(join(folder, 'package'))
  mkdirSync(artifact, { recursive: true })
  writeFileSync(join(folder, 'package/package.json'), '{ "name": "fetch", "version": "1.0.0" }')
  const run = promisify(execFile)
  await run('tar', ['czf', join(artifact, 'fetch.tgz'), 'package'], { cwd: folder })
  writeFileSync(join(artifact, 'NEW'), 'fetch.tgz\n')
  const hookRan = join(folder, 'hook-ran')
  writeFileSync(
    join(artifact, 'hook.cjs'),
    `require('node:fs').writeFileSync(${JSON.stringify(hookRan)}, '')\nmodule.exports = { hooks: {} }`,
  )
  writeFileSync(join(artifact, 'pnpm-workspace.yaml'), 'pnpmfile: [hook.cjs]\n')
  // the pnpm that is here, and nothing is uploaded
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'npm'),
    '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@" --dry-run\n',
  )
  chmodSync(join(bin, 'npm'), 0o755)
  const env = { ...process.env, PATH: [bin, process.env['PATH']].join(delimiter) }
  const { stdout } = await run('sh', ['-ec', script], { cwd: workspace, env })
  expect(stdout).toContain('fetch@1.0.0 (would stage)')
  expect(existsSync(hookRan)).toBe(false)
})
