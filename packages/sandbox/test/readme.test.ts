import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { startSandbox } from '../src/index.ts'

const packageFolder = new URL('..', import.meta.url)
const reference = await readFile(new URL('../../docs/guide/sandbox.md', packageFolder), 'utf8')
const readme = await readFile(new URL('README.md', packageFolder), 'utf8')

test('the example runs as it stands', async ({ signal }) => {
  const example = /```ts\n(.+?)```/s.exec(readme)?.[1] ?? ''
  const run = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', example], {
    cwd: packageFolder,
    signal,
  })
  await expect(run).resolves.toMatchObject({ stdout: '' })
})

test('every function of control is explained', async () => {
  await using sandbox = await startSandbox()
  for (const name of Object.keys(sandbox.control)) expect(reference).toContain(`- \`${name}(`)
})
