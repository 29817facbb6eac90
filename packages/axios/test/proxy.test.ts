import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { fakeTokens } from '@tokenlane/core/testing'
import newest, { type AxiosStatic } from 'axios'
import axios112 from 'axios-1.12'
import axios116 from 'axios-1.16'
import axios17 from 'axios-1.7'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { attachTokens } from '../src/index.ts'

/** A proxy that reaches nothing. `seen` has what reached it, and with which credentials. */
async function openProxy(): Promise<{ port: number; url: string; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'without a token'}`)
    response.end('{}')
  })
  server.on('connect', ({ url, headers }, socket) => {
    seen.push(`CONNECT ${url} ${headers.authorization ?? 'without a token'}`)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, seen }
}

// axios/axios#4531: before 1.16, axios makes no tunnel; from 1.16 on, it reads nothing of npm
const copies = Object.entries({
  '1.7': { copy: axios17, tunnels: false, code: /^INSECURE_TRANSPORT$/ },
  '1.12': { copy: axios112, tunnels: false, code: /^INSECURE_TRANSPORT$/ },
  '1.16': { copy: axios116, tunnels: true, code: /^(?:ERR_BAD_RESPONSE|ECONNREFUSED)$/ },
  newest: { copy: newest, tunnels: true, code: /^(?:ERR_BAD_RESPONSE|ECONNREFUSED)$/ },
}).map(([name, { copy, tunnels, code }]) => ({
  name,
  tunnels,
  code,
  axios: copy as unknown as AxiosStatic,
}))

describe.each(copies)('axios $name', ({ axios, tunnels, code }) => {
  test.each(['proxy', 'https_proxy', 'ALL_PROXY', 'npm_config_https_proxy'])(
    'sends no token unencrypted to a proxy that `%s` names',
    async (where) => {
      const { port, url, seen } = await openProxy()
      for (const name of ['https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, '')
      if (where !== 'proxy') vi.stubEnv(where, url)
      onTestFinished(() => void vi.unstubAllEnvs())
      const proxy = where === 'proxy' ? { host: '127.0.0.1', port, protocol: 'http' } : undefined
      const client = axios.create({ ...(proxy && { proxy }), timeout: 5_000 })
      const tokens = fakeTokens({ apis: ['https://127.0.0.1:9/'] })
      attachTokens(client, tokens)
      const failed = await client.get('https://127.0.0.1:9/records').catch((error: unknown) => error)
      expect(failed).toMatchObject({ isAxiosError: true, code: expect.stringMatching(code) as string })
      expect(seen.filter((request) => request !== 'CONNECT 127.0.0.1:9 without a token')).toEqual([])
      expect(tokens.counts()).toMatchObject({ calls: 1, queued: 0 })
    },
  )

  test('sends a call to another URL to the proxy as without tokens', async () => {
    const { port, seen } = await openProxy()
    const client = axios.create({ proxy: { host: '127.0.0.1', port, protocol: 'http' } })
    attachTokens(client, fakeTokens({ apis: ['https://api.invalid/'] }))
    await client.get('https://other.invalid/').catch(() => {})
    expect(seen).toEqual([
      tunnels ? 'CONNECT other.invalid:443 without a token' : 'GET https://other.invalid/ without a token',
    ])
  })
})
