import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../../tools/testing/src/free-port.ts'

let proxy: Server | undefined
afterEach(() => proxy?.close())

/** What a process says that asks for a token with these variables and no other proxy setting. */
function tokenError(env: Record<string, string>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { PATH = '', NODE_OPTIONS = '' } = process.env
  const program = fileURLToPath(new URL('proxied-process.ts', import.meta.url))
  execFile(process.execPath, [program], { env: { PATH, NODE_OPTIONS, ...env } }, (_, output) =>
    resolve(output),
  )
  return promise
}

test('a dead proxy is named with its variable, and the issuer is not blamed', async () => {
  const place = `127.0.0.1:${await freePort()}`
  const error = await tokenError({
    TOKEN_ENDPOINT: 'https://auth.example.com/token',
    HTTPS_PROXY: `http://user:password@${place}`,
    NODE_USE_ENV_PROXY: '1',
  })
  expect(error).toContain(
    `could not be reached: no connection to the proxy ${place} from HTTPS_PROXY (ECONNREFUSED)`,
  )
  expect(error).not.toContain('password')
})

test('a proxy that wants a password is named with its status', async () => {
  proxy = createServer().listen(0, '127.0.0.1')
  proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
  await once(proxy, 'listening')
  const place = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const error = await tokenError({
    TOKEN_ENDPOINT: 'https://auth.example.com/token',
    HTTPS_PROXY: `http://${place}`,
    NODE_USE_ENV_PROXY: '1',
  })
  expect(error).toContain(`the proxy ${place} from HTTPS_PROXY refused the connection with status 407`)
})

test.each([
  ['http://proxy.example.com:3128', ''],
  // curl accepts these, and Node does not start with them
  ['proxy.example.com:3128', ', and with `http://` in front'],
  ['192.0.2.1:3128', ', and with `http://` in front'],
])('the proxy %s that is set, but not used by Node, is reported', async (proxyUrl, rest) => {
  const error = await tokenError({
    TOKEN_ENDPOINT: `https://127.0.0.1:${await freePort()}/token`,
    HTTPS_PROXY: proxyUrl,
  })
  const [, after] = error.trim().split('could not be reached (ECONNREFUSED); ')
  expect(after).toBe(
    `HTTPS_PROXY is set, but Node uses it only with NODE_USE_ENV_PROXY=1 (Node 22.21 or later)${rest}`,
  )
})
