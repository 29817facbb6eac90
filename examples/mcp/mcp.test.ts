import { execFile } from 'node:child_process'
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { promisify } from 'node:util'
import {
  Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  createTokenManager,
  oauthIssuer,
  type TokenManager,
} from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { expect, onTestFinished, test, vi } from 'vitest'

import {
  startMcpService,
  type McpService,
  type McpServiceOptions,
} from './service.ts'
import { sources } from './situations.ts'

const sum = { name: 'add', arguments: { a: 2, b: 3 } }
const five = { content: [{ type: 'text', text: '5' }] }
const identity = { name: 'my-agent', version: '1.0.0' }

async function open(options?: McpServiceOptions): Promise<McpService> {
  const service = await startMcpService(options)
  onTestFinished(() => service[Symbol.asyncDispose]())
  return service
}

/** Both lines of the official client. */
const lines = {
  'version 2': () => ({
    client: new Client(identity),
    Transport: StreamableHTTPClientTransport,
  }),
  'version 1': () => ({ client: new Client1(identity), Transport: Transport1 }),
}
type Line = keyof typeof lines

async function connected(line: Line, service: McpService) {
  const source = sources.tokenlane(service, service.url)
  const { client, Transport } = lines[line]()
  const transport = new Transport(new URL(service.url), source.options as never)
  await client.connect(transport)
  onTestFinished(async () => {
    await client.close()
    await source[Symbol.asyncDispose]()
  })
  return { client, transport }
}

test('the program of the page lists the tools and calls one', async () => {
  const { url, tokenEndpoint, credentials } = await open()
  const { stdout } = await promisify(execFile)(process.execPath, ['main.ts'], {
    cwd: import.meta.dirname,
    env: {
      ...process.env,
      MCP_URL: url,
      MCP_TOKEN_ENDPOINT: tokenEndpoint,
      MCP_CLIENT_ID: credentials.clientId,
      MCP_CLIENT_SECRET: credentials.clientSecret,
    },
  })
  expect(stdout).toBe('tools: add\n2 + 3 = 5\n')
})

test.each([
  ['version 2', false],
  ['version 2', true],
  ['version 1', false],
  ['version 1', true],
] as const)(
  '%s keeps its session when the token is revoked (JSON: %s)',
  async (line, json) => {
    const service = await open({ json })
    const { client, transport } = await connected(line, service)
    expect(await client.callTool(sum)).toMatchObject(five)

    const { sessionId } = transport
    expect(sessionId).toBeDefined()
    await service.authorizationServer.revokeAll()
    expect(await client.callTool(sum)).toMatchObject(five)
    expect(transport.sessionId).toBe(sessionId)
    expect(service.authorizationServer.counts).toEqual({
      tokenRequests: 2,
      discoveries: 0,
    })
    expect(service.counts).toMatchObject({ refused: 1, sessions: 1 })

    await transport.terminateSession()
    expect(service.counts.sessions).toBe(0)
  },
)

test.each(['version 2', 'version 1'] as const)(
  '%s connects its stream again with a live token, and misses nothing',
  async (line) => {
    const service = await open()
    const { client } = await connected(line, service)
    const changed = vi.fn<() => void>()
    client.fallbackNotificationHandler = async () => changed()
    // the stream that the client opens by itself for what the server has to say
    await vi.waitFor(() => expect(service.openStreams()).toBe(1))
    service.announce()
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1))

    await service.authorizationServer.revokeAll()
    // a stream that is open outlives its token
    service.announce()
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(2))
    expect(service.counts.refused).toBe(0)

    service.cutStreams()
    service.announce()
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(3))
    expect(service.counts.refused).toBe(1)
    expect(service.authorizationServer.counts).toEqual({
      tokenRequests: 2,
      discoveries: 0,
    })
  },
)

test('a client proves itself by private_key_jwt, for one resource', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', {
    extractable: true,
  })
  const service = await open({ publicKey: await exportJWK(publicKey) })
  const pem = await exportPKCS8(privateKey)
  const manage = (resource: string): TokenManager => {
    const tokens = createTokenManager({
      issuers: {
        mcp: oauthIssuer({
          tokenEndpoint: service.tokenEndpoint,
          clientAuthentication: 'private_key_jwt',
          assertionAudience: service.issuer,
          credentials: { clientId: 'agent-with-a-key', privateKey: pem },
          parameters: { resource },
          allowInsecureLoopback: true,
        }),
      },
      apis: [{ baseUrl: service.url, issuer: 'mcp' }],
    })
    onTestFinished(() => tokens.close())
    return tokens
  }
  const connectWith = async (tokens: TokenManager): Promise<Client> => {
    const client = new Client(identity)
    onTestFinished(() => client.close())
    const transport = new StreamableHTTPClientTransport(new URL(service.url), {
      fetch: createFetch(tokens),
    })
    await client.connect(transport)
    return client
  }
  const client = await connectWith(manage(service.url))
  expect(await client.callTool(sum)).toMatchObject(five)
  expect(service.authorizationServer.counts.tokenRequests).toBe(1)

  // the token of another resource is refused, and one more of them would be too: the caller gets the 401
  await expect(connectWith(manage(service.statelessUrl))).rejects.toMatchObject(
    { status: 401 },
  )
})
