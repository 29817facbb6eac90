// Long: a process for each command. Git as the one that asks for the token.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { main, tokenlane } from './support/run.ts'

let folder: string
let module: string
let issued = 0

const server = createServer((request, response) => {
  request.resume()
  issued += 1
  const body = JSON.stringify({ access_token: `token-${issued}`, token_type: 'Bearer', expires_in: 3_600 })
  response.setHeader('content-type', 'application/json').end(body)
})

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // inside of the package, so that its modules are found
  const parent = fileURLToPath(new URL('applications/', import.meta.url))
  mkdirSync(parent, { recursive: true })
  folder = mkdtempSync(join(parent, 'git-'))
  module = join(folder, 'tokens.ts')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(
    module,
    `import { tokensFor } from '@tokenlane/core'
export const tokens = tokensFor({
  tokenEndpoint: '${url}/token', baseUrl: '${url}/api/', allowInsecureLoopback: true,
  credentials: { clientId: 'client-1', clientSecret: 'a-long-secret-1' },
})`,
  )
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const form = ['--print', 'git-credential']

/** Runs `git credential`, whose only helper is the command; returns the password that git takes from it. */
async function git(
  operation: 'fill' | 'approve' | 'reject',
  args: string,
  password?: string,
): Promise<string> {
  const helper = `!'${process.execPath}' '${main}' token ${args} --module '${module}' ${form.join(' ')}`
  const given = ['-c', 'credential.helper=', '-c', `credential.helper=${helper}`, 'credential', operation]
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: folder, GIT_TERMINAL_PROMPT: '0' }
  return new Promise((resolve, reject) => {
    const child = execFile('git', given, { env }, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr, { cause: error }))
      else resolve(/^password=(.*)$/m.exec(stdout)?.[1] ?? '')
    })
    const known = password === undefined ? '' : `username=oauth2\npassword=${password}\n`
    child.stdin?.end(`protocol=https\nhost=git.example.com\n${known}\n`)
  })
}

test.each(['', 'default'])('git fills in a token by the command "token %s"', async (issuer) => {
  expect(await git('fill', issuer)).toBe(`token-${issued}`)
})

test('git keeps a token that works, and drops one from the cache that the server refused', async () => {
  const kept = await git('fill', 'default --cache')
  expect(await git('approve', 'default --cache', kept)).toBe('')
  expect(await git('fill', 'default --cache')).toBe(kept)
  // an older one, which another process has replaced since
  await git('reject', 'default --cache', 'token-0')
  expect(await git('fill', 'default --cache')).toBe(kept)
  await git('reject', 'default --cache', kept)
  const before = issued
  const renewed = await git('fill', 'default --cache')
  expect(renewed).not.toBe(kept)
  expect(renewed).toBe(`token-${before}`)
})

test('a second name is refused, whatever the form', async () => {
  for (const more of [form, []])
    expect(await tokenlane(['token', 'default', 'other', '--module', module, ...more], {})).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('other') as string,
    })
})
