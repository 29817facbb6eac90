import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'

import { pendingIn, taggedIn } from '../src/pack.ts'

let folder: string
const git = (...args: string[]): unknown =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: folder })
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tags-'))
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'release')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a version is tagged by its whole name and version', () => {
  git('tag', '@tokenlane/core@1.0.0')
  git('tag', 'tokenlane@1.0.10')
  const versions = ['@tokenlane/core@1.0.0', '@tokenlane/core@1.0.1', 'tokenlane@1.0.1', 'core@1.0.0']
  const items = versions.map((tag) => {
    const [, name = '', version = ''] = /^(.+)@(.+)$/.exec(tag) ?? []
    return { name, version, file: '' }
  })
  expect(items.map(taggedIn(folder))).toEqual([true, false, false, false])
})

test('a changeset that no version contains yet is named', () => {
  const changesets = mkdtempSync(join(tmpdir(), 'changesets-'))
  onTestFinished(() => rmSync(changesets, { recursive: true }))
  for (const name of ['README.md', 'config.json']) writeFileSync(join(changesets, name), '')
  expect(pendingIn(changesets)).toEqual([])
  writeFileSync(join(changesets, 'core.md'), '')
  expect(pendingIn(changesets)).toEqual(['core.md'])
})
