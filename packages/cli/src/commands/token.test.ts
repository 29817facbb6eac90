import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { tokenText } from './token.ts'

/** Every visible ASCII character may stand in a token, which the issuer chooses (RFC 6749 A.12). */
const anyCharacter = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')

test.each([
  ['would run commands', ';touch${IFS}ran;$(touch${IFS}ran)`touch${IFS}ran`'],
  ['would end the quotes', `';touch\${IFS}ran;'`],
  ['begins with a tilde', '~root'],
  ['has every visible character', anyCharacter],
  ['is plain', 'eyJhbGciOiJSUzI1NiJ9.e30.a-b_c'],
])('a shell that evaluates the line has a token that %s, and runs nothing', (_, value) => {
  const line = tokenText({ value, expiresAt: new Date() }, 'general', 'env')
  const home = mkdtempSync(join(tmpdir(), 'shell-'))
  try {
    const script = 'eval "$1"; printf %s "$GENERAL_ACCESS_TOKEN"'
    expect(execFileSync('sh', ['-c', script, 'sh', line], { cwd: home, encoding: 'utf8' })).toBe(value)
    expect(existsSync(join(home, 'ran'))).toBe(false)
  } finally {
    rmSync(home, { recursive: true })
  }
})

test.each([
  ['general', 'GENERAL_ACCESS_TOKEN=a.b-c'],
  ['shop-2', 'SHOP_2_ACCESS_TOKEN=a.b-c'],
  ['2nd', '_2ND_ACCESS_TOKEN=a.b-c'],
  ['grün', 'GR_N_ACCESS_TOKEN=a.b-c'],
])('the variable of the issuer %s is a name of the shell: %s', (issuer, line) => {
  expect(tokenText({ value: 'a.b-c', expiresAt: new Date() }, issuer, 'env')).toBe(line)
})

const token = { value: 'a.b-c', expiresAt: new Date('2026-11-28T10:20:30.456Z') }

test.each([
  [undefined, 'client.authentication.k8s.io/v1'],
  [
    '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{}}',
    'client.authentication.k8s.io/v1beta1',
  ],
  ['not JSON', 'client.authentication.k8s.io/v1'],
])('kubectl that passes %s gets a credential of %s', (info, apiVersion) => {
  vi.stubEnv('KUBERNETES_EXEC_INFO', info)
  expect(JSON.parse(tokenText(token, 'general', 'exec-credential'))).toEqual({
    apiVersion,
    kind: 'ExecCredential',
    status: { token: 'a.b-c', expirationTimestamp: '2026-11-28T10:20:30Z' },
  })
  vi.unstubAllEnvs()
})

test('git gets a bearer token, one before 2.46 a password, and both until when they are good', () => {
  expect(tokenText(token, 'general', 'git-credential').split('\n')).toEqual([
    'capability[]=authtype',
    'authtype=Bearer',
    'credential=a.b-c',
    'username=oauth2',
    'password=a.b-c',
    'password_expiry_utc=1795861230',
  ])
})
