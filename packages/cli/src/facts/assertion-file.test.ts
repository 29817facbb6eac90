import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lookAtAssertionFile } from './assertion-file.ts'

test('a pipe, a folder and a file that is not there are not read as an assertion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assertion-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const path of [pipe, folder, join(folder, 'none')]) expect(lookAtAssertionFile(path)).toBeUndefined()
})
