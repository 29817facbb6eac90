import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taggedIn } from '../src/tags.ts'

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
