import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

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
