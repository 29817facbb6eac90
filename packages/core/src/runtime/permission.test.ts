import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { fakeService } from '../../test/fake-issuer.ts'
import { fileCredentials, fileTokenStore } from '../node.ts'
import { permissionFault } from './permission.ts'

/** As Deno 2 throws it. */
const notCapable = (message: string): Error => Object.assign(new Error(message), { name: 'NotCapable' })

test('a token request that Deno does not permit is not tried again, and Deno is quoted', async () => {
  const said = 'Requires net access to "auth.example.com:443", run again with the --allow-net flag'
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => notCapable(said))
  await expect(tokens.getToken('general')).rejects.toMatchObject({
    code: 'TOKEN_REQUEST_FAILED',
    definite: true,
    message: expect.stringContaining(`was not asked: ${said}`) as string,
  })
  expect(issuer.count).toBe(1)
})

test.each([
  ['fileCredentials', () => fakeService({ credentials: fileCredentials('/run/secrets/general') })],
  ['fileTokenStore', () => fileTokenStore('/run/tokens')],
])('%s quotes Deno where it may not read', async (_what, create) => {
  const said = 'Requires read access to "/run", run again with the --allow-read flag'
  const fs = process.getBuiltinModule('node:fs')
  const stat = vi.spyOn(fs, 'statSync').mockImplementation(() => {
    throw notCapable(said)
  })
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  syncBuiltinESMExports()
  try {
    expect(create).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
    expect(create).toThrow(said)
  } finally {
    stat.mockRestore()
    syncBuiltinESMExports()
  }
  expect(statSync(process.cwd()).isDirectory()).toBe(true)
})

test('Node\u2019s permission model is quoted as well', () => {
  const program = `try { require('node:fs').readFileSync('/etc/hostname') } catch (error) { console.log(JSON.stringify({ code: error.code, message: error.message })) }`
  const printed = execFileSync(process.execPath, ['--permission', '-e', program], { encoding: 'utf8' })
  expect(permissionFault(new TypeError('failed', { cause: JSON.parse(printed) as object }))).toContain(
    '--allow-fs-read',
  )
})

test.each([
  undefined,
  'NotCapable',
  new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
  Object.assign(new Error('permission denied, open "/run/secret"'), { code: 'EACCES' }),
  // of a database, say
  Object.assign(new Error('wrong password secret-1'), { name: 'PermissionDenied' }),
])('another error is not quoted: %s', (error) => {
  expect(permissionFault(error)).toBeUndefined()
})
