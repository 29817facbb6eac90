import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pendingIn } from '../src/pending.ts'

test('a changeset that no version contains yet is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'changesets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['README.md', 'config.json']) writeFileSync(join(folder, name), '')
  expect(pendingIn(folder)).toEqual([])
  writeFileSync(join(folder, 'core.md'), '')
  expect(pendingIn(folder)).toEqual(['core.md'])
})
