// Long: each call is made by a process of its own.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { runProgram } from '@tokenlane/testing/example-programs'

let sandbox: Sandbox
let proxy: Server
let url: string
/** Where tunnels were opened to. */
const tunnels: string[] = []

beforeAll(async () => {
  sandbox = await startSandbox()
  proxy = createServer((_, response) => response.writeHead(400).end())
  proxy.on('connect', ({ url: target = '' }, client: Socket) => {
    tunnels.push(target)
    const server = connect(Number(target.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      server.pipe(client).pipe(server)
    })
    for (const socket of [client, server]) socket.on('error', () => socket.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
beforeEach(() => {
  tunnels.length = 0
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'NO_PROXY'])
    vi.stubEnv(name, undefined)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  proxy.close()
  await sandbox.close()
})

const both = (): string[] => [sandbox.authUrl, sandbox.apiUrl].map((target) => new URL(target).host)

async function run(program: string, args: string[] = []): Promise<string> {
  const { stdout, stderr } = runProgram(new URL(program, import.meta.url), sandbox, args)
  const [output, errors] = await Promise.all([text(stdout), text(stderr)])
  return output + errors
}

test.each(['fetch', 'axios', 'got', 'ky', 'undici'])(
  'the token request and a call of %s go through the proxy of the environment',
  async (client) => {
    vi.stubEnv('HTTPS_PROXY', url)
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    expect(await run('proxy/by-environment.ts', [client])).toContain(`${client} 200`)
    expect(tunnels).toEqual(both())
  },
)

test('with a proxy agent of undici no environment variable is needed', async () => {
  vi.stubEnv('HTTPS_PROXY', undefined)
  vi.stubEnv('NODE_USE_ENV_PROXY', undefined)
  vi.stubEnv('PROXY', url)
  expect(await run('proxy/by-agent.ts')).toContain('undici 200')
  expect(tunnels).toEqual(both())
})

test('without NODE_USE_ENV_PROXY the proxy sees no token request', async () => {
  vi.stubEnv('HTTPS_PROXY', url)
  vi.stubEnv('NODE_USE_ENV_PROXY', undefined)
  expect(await run('proxy/by-environment.ts', ['fetch'])).toContain('fetch 200')
  expect(tunnels).toEqual([])
})
