import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { asCurl, tokenLine } from '../console/src/as-curl.ts'
import { startSandbox, type ClientAuthentication, type JournalEntry, type Sandbox } from '../src/index.ts'
import { callApi, tokenOf } from './client.ts'

const entryOf = ({ control }: Sandbox): JournalEntry => control.journal({ limit: 1 })[0] as JournalEntry

test('a call is a command with a variable in the place of its token', async () => {
  await using sandbox = await startSandbox()
  const token = await tokenOf(sandbox, 'general')
  await callApi(sandbox, 'general', { token })
  const command = asCurl(entryOf(sandbox), sandbox.control.state()) ?? ''
  expect(command).toBe(
    `curl -i --tlsv1.2 --cacert "$NODE_EXTRA_CA_CERTS" '${new URL(entryOf(sandbox).path as string, sandbox.apiUrl).href}' \\\n` +
      '  -H "Authorization: Bearer $GENERAL_ACCESS_TOKEN"',
  )
  expect(command).not.toContain(token)
})

test.each(['general', 'weblink'] as const)('the token of a call comes from the %s issuer', (realm) => {
  const entry = (kind: 'api' | 'issuer'): JournalEntry => ({ target: `${realm}-${kind}` }) as JournalEntry
  expect(tokenLine(entry('api'))).toBe(`export "$(npx tokenlane token ${realm} --print env)"`)
  expect(tokenLine(entry('issuer'))).toBeUndefined()
})

test.each<ClientAuthentication>(['client_secret_post', 'client_secret_basic'])(
  'a token request with %s is a form of variables, and a shell in the environment gets a token by it',
  async (clientAuthentication) => {
    const caFile = join(mkdtempSync(join(tmpdir(), 'curl-')), 'ca.pem')
    onTestFinished(() => rmSync(caFile, { force: true }))
    await using sandbox = await startSandbox({ caFile, issuers: { weblink: { clientAuthentication } } })
    const { state, environment } = sandbox.control
    const entry = {
      target: 'weblink-issuer',
      method: 'POST',
      path: '/IdentityServer/connect/token',
    } as JournalEntry
    const command = asCurl(entry, state()) ?? ''
    expect(command).not.toContain(sandbox.credentials.weblink.clientSecret)
    expect(command).toContain('--data-urlencode scope=WebLinkAPI')
    writeFileSync(caFile, sandbox.ca)
    // a server in this process cannot respond while it waits for a program: the words of the command are compared
    const words = execFileSync('sh', ['-c', command.replace('curl', "printf '%s\\n'")], {
      env: { ...environment(), PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
    expect(words).toContain(`${state().issuers.weblink.tokenEndpoint}\n`)
    expect(words).toContain(sandbox.credentials.weblink.clientSecret)
  },
)

test('what was not a request is no command, and quotes in a path stay in it', async () => {
  await using sandbox = await startSandbox()
  const state = sandbox.control.state()
  const entry = { target: 'general-api', method: null, path: null } as JournalEntry
  expect(asCurl(entry, state)).toBeUndefined()
  const odd = asCurl({ ...entry, method: 'DELETE', path: "/a';id;'" }, state)
  expect(odd).toContain("/a%27;id;%27' \\\n  -X DELETE")
})
