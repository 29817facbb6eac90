// An MCP server behind client credentials, with its authorization server, on this machine: `node service.ts`.
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'

import {
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  type EventStore,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server'
import type { ClientMetadata } from 'oidc-provider'

import {
  createAuthorizationServer,
  type AuthorizationServer,
} from './authorization-server.ts'

export interface McpServiceOptions {
  /** The response to a call: a stream of events, or JSON. Default: a stream. */
  readonly json?: boolean
  /** How long a token request takes, in milliseconds. Default: 0. */
  readonly tokenDelay?: number
  /** Public key of a second client, which proves itself by `private_key_jwt`. */
  readonly publicKey?: object
}

export interface McpService extends AsyncDisposable {
  /** The MCP server of revision 2025-11-25, with sessions. */
  readonly url: string
  /** The MCP server of revision 2026-07-28, without. */
  readonly statelessUrl: string
  /** The issuer identifier of the authorization server, and its token endpoint. */
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly credentials: {
    readonly clientId: string
    readonly clientSecret: string
  }
  readonly authorizationServer: AuthorizationServer
  /** Requests to the MCP servers: refused with 401, answered, and the sessions that are open. */
  readonly counts: { refused: number; answered: number; sessions: number }
  /** Ends every stream of events, as a proxy does that tolerates no long response. Clients connect again. */
  cutStreams(): void
  /** Tells every session that the list of tools changed, on the stream that its client keeps open. */
  announce(): void
  /** Streams that are open now. */
  openStreams(): number
}

export async function startMcpService(
  options: McpServiceOptions = {},
): Promise<McpService> {
  const { json = false, tokenDelay = 0, publicKey } = options
  const [authServer, mcpServer] = [createServer(), createServer()]
  const [issuer, origin] = await Promise.all([
    listen(authServer),
    listen(mcpServer),
  ])
  const [url, statelessUrl] = [`${origin}/mcp`, `${origin}/stateless/mcp`]
  const credentials = {
    clientId: 'my-agent',
    clientSecret: randomBytes(24).toString('base64url'),
  }
  const authorizationServer = createAuthorizationServer(
    issuer,
    registrations(credentials, publicKey),
    [url, statelessUrl],
    tokenDelay,
  )
  authServer.on(
    'request',
    (request, response) => void authorizationServer.handle(request, response),
  )

  const counts = { refused: 0, answered: 0, sessions: 0 }
  const sessions = new Map<
    string,
    { server: McpServer; transport: NodeStreamableHTTPServerTransport }
  >()
  const streams = new Set<ServerResponse>()
  const stateless = toNodeHandler(createMcpHandler(createTools))

  const inSession = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const id = String(request.headers['mcp-session-id'] ?? '')
    const known = sessions.get(id)
    if (known !== undefined)
      return known.transport.handleRequest(request, response)
    const server = createTools()
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      eventStore: createEventStore(),
      retryInterval: 10,
      onsessioninitialized(session) {
        sessions.set(session, { server, transport })
        counts.sessions += 1
      },
      onsessionclosed(session) {
        sessions.delete(session)
        counts.sessions -= 1
      },
    })
    await server.connect(transport)
    await transport.handleRequest(request, response)
  }

  const handle = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const path = request.url ?? ''
    const metadata = '/.well-known/oauth-protected-resource'
    if (path.startsWith(metadata)) {
      authorizationServer.counts.discoveries += 1
      const resource = origin + path.slice(metadata.length)
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          resource,
          authorization_servers: [issuer],
          scopes_supported: ['tools'],
        }),
      )
      return
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (
      token === undefined ||
      !(await authorizationServer.isLive(token, origin + path))
    ) {
      counts.refused += 1
      const error = token === undefined ? '' : 'error="invalid_token", '
      const challenge = `Bearer ${error}resource_metadata="${origin}${metadata}${path}"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return
    }
    counts.answered += 1
    streams.add(response)
    response.once('close', () => streams.delete(response))
    await (path === '/mcp'
      ? inSession(request, response)
      : stateless(request as ServerRequest, response))
  }
  mcpServer.on('request', (request, response) => void handle(request, response))

  return {
    url,
    statelessUrl,
    issuer,
    tokenEndpoint: `${issuer}/token`,
    credentials,
    authorizationServer,
    counts,
    cutStreams() {
      for (const response of streams) response.destroy()
    },
    announce() {
      for (const { server } of sessions.values()) server.sendToolListChanged()
    },
    openStreams: () => streams.size,
    async [Symbol.asyncDispose]() {
      for (const server of [authServer, mcpServer]) {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
    },
  }
}

function registrations(
  credentials: { readonly clientId: string; readonly clientSecret: string },
  publicKey: object | undefined,
): ClientMetadata[] {
  const common = {
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    scope: 'tools',
  }
  const { clientId, clientSecret } = credentials
  const bySecret = {
    ...common,
    client_id: clientId,
    client_secret: clientSecret,
  }
  if (publicKey === undefined) return [bySecret]
  const byKey = {
    ...common,
    client_id: 'agent-with-a-key',
    token_endpoint_auth_method: 'private_key_jwt' as const,
    jwks: { keys: [publicKey] },
  }
  return [bySecret, byKey]
}

/** A request as a server gets it: Node's type leaves these out of responses, which it describes too. */
type ServerRequest = IncomingMessage & { method: string; url: string }

/** The tools of the server: what a caller may use once its token is accepted. */
function createTools(): McpServer {
  const server = new McpServer(
    { name: 'sums', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  )
  const inputSchema = fromJsonSchema<{ a: number; b: number }>({
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  })
  server.registerTool(
    'add',
    { description: 'Adds two numbers', inputSchema },
    ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }),
  )
  return server
}

/** Remembers the events of a session, for clients that connect again. */
function createEventStore(): EventStore {
  const events: { stream: string; message: JSONRPCMessage }[] = []
  return {
    async storeEvent(stream, message) {
      return String(events.push({ stream, message }))
    },
    async replayEventsAfter(last, { send }) {
      const stream = events[Number(last) - 1]?.stream ?? ''
      for (const [index, event] of events.entries())
        if (index >= Number(last) && event.stream === stream)
          await send(String(index + 1), event.message)
      return stream
    },
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { url, tokenEndpoint, credentials } = await startMcpService()
  console.log(`MCP_URL=${url}
MCP_TOKEN_ENDPOINT=${tokenEndpoint}
MCP_CLIENT_ID=${credentials.clientId}
MCP_CLIENT_SECRET=${credentials.clientSecret}`)
}
