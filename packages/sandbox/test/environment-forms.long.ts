// Long: needs Python and curl, and a process for each form.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { forms } from '../console/src/environment-forms.ts'
import { startSandbox, type Sandbox } from '../src/index.ts'

vi.setConfig({ testTimeout: 60_000 })

// a path that a shell would take apart
const folder = mkdtempSync(join(tmpdir(), "it's copied "))
const call = "fetch(process.env.API_URL + 'records').then(({ status }) => console.log(status))"
let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({
    caFile: join(folder, 'ca.pem'),
    issuers: { weblink: { clientAuthentication: 'private_key_jwt' } },
  })
})
afterAll(async () => {
  await sandbox.close()
  rmSync(folder, { recursive: true })
})

function copied(form: string): string {
  const { control } = sandbox
  return forms[form]?.(control.environment(), control.state().issuers.general) ?? ''
}

/** Runs a program with none of the variables, and returns what it printed. */
async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
  })
  return stdout.trim()
}

test('what is copied for a shell points a program started there at the sandbox', async () => {
  expect(await run('sh', '-c', `${copied('shell')}\nnode -e "${call}"`)).toBe('401')
})

test('the comment in what is copied for .env says how to load it', async () => {
  writeFileSync(join(folder, '.env'), copied('.env'))
  const [load = ''] = /set -a.*set \+a/.exec(copied('.env')) ?? []
  expect(await run('sh', '-c', `${load}\nnode -e "${call}"`)).toBe('401')
  const key = 'process.stdout.write(process.env.WEBLINK_PRIVATE_KEY)'
  expect(await run('sh', '-c', `${load}\nnode -e "${key}"`)).toBe(
    sandbox.control.environment()['WEBLINK_PRIVATE_KEY'],
  )
})

test.each(['mjs', 'cjs'])('what is copied for Node works at the top of a program.%s', async (kind) => {
  const program = join(folder, `program.${kind}`)
  writeFileSync(program, `${copied('Node')}\n${call}\n`)
  expect(await run(process.execPath, program)).toBe('401')
})

test('what is copied for Node works with --import', async () => {
  const file = join(folder, 'sandbox.mjs')
  writeFileSync(file, copied('Node'))
  expect(await run(process.execPath, '--import', './sandbox.mjs', '-e', call)).toBe('401')
})

test('what is copied for Python works at the top of a program', async () => {
  const program = `${copied('Python')}
from urllib.request import urlopen
from urllib.error import HTTPError
try:
    urlopen(os.environ['API_URL'] + 'records')
except HTTPError as error:
    print(error.code)
`
  expect(await run('python3', '-c', program)).toBe('401')
})

test('what is copied for curl gets a token', async () => {
  expect(await run('sh', '-c', `${copied('curl')} --silent`)).toContain('"access_token"')
})
