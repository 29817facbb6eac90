// What one client of the official SDK costs, with its own provider and with Tokenlane, counted at the servers.
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  type PriorDiscovery,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client'
import { createTokenManager, oauthIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

import { startMcpService, type McpService } from './service.ts'

/** What a situation cost: requests that the servers counted, and calls whose caller got an error. */
export interface Cost {
  readonly tokenRequests: number
  readonly discoveries: number
  readonly refused: number
  readonly lost: number
}

/** Where a transport gets its tokens. */
interface TokenSource extends AsyncDisposable {
  readonly options: StreamableHTTPClientTransportOptions
}

export type CreateSource = (service: McpService, url: string) => TokenSource

export const sources: Readonly<Record<'official' | 'tokenlane', CreateSource>> =
  {
    official: ({ credentials, issuer }) => ({
      options: {
        authProvider: new ClientCredentialsProvider({
          ...credentials,
          expectedIssuer: issuer,
        }),
      },
      async [Symbol.asyncDispose]() {},
    }),
    tokenlane: ({ credentials, tokenEndpoint }, url) => {
      const tokens = createTokenManager({
        issuers: {
          mcp: oauthIssuer({
            tokenEndpoint,
            clientAuthentication: 'client_secret_basic',
            credentials,
            parameters: { resource: url },
            allowInsecureLoopback: true,
          }),
        },
        apis: [{ baseUrl: url, issuer: 'mcp' }],
      })
      return {
        options: { fetch: createFetch(tokens) },
        [Symbol.asyncDispose]: () => tokens.close(),
      }
    },
  }

/** 50 calls at once over a new transport, before there is any token. */
export async function cold(create: CreateSource): Promise<Cost> {
  await using service = await startMcpService({ tokenDelay: 50 })
  await using source = create(service, service.statelessUrl)
  const client = await modernClient(service, source)
  return await costOf(service, () => fiftyCalls(client))
}

/** 50 calls at once after the token was revoked. */
export const revoked = (create: CreateSource): Promise<Cost> =>
  afterRevocation(create, () => {})

/** 50 calls at once after the token was revoked, while the authorization server is down for two seconds. */
export const revokedWhileDown = (create: CreateSource): Promise<Cost> =>
  afterRevocation(create, (service) =>
    service.authorizationServer.breakDown(2_000),
  )

async function afterRevocation(
  create: CreateSource,
  happens: (service: McpService) => void,
): Promise<Cost> {
  await using service = await startMcpService({ tokenDelay: 50 })
  await using source = create(service, service.statelessUrl)
  const client = await modernClient(service, source)
  await add(client)
  await service.authorizationServer.revokeAll()
  happens(service)
  return await costOf(service, () => fiftyCalls(client))
}

/** Ten transports that connect at once, with one source of tokens for all of them, and one call of each. */
export async function tenTransports(create: CreateSource): Promise<Cost> {
  await using service = await startMcpService({ tokenDelay: 50 })
  await using source = create(service, service.url)
  const clients = Array.from(
    { length: 10 },
    () => new Client({ name: 'my-agent', version: '1.0.0' }),
  )
  const cost = await costOf(service, () =>
    Promise.allSettled(
      clients.map(async (client) => {
        await client.connect(
          new StreamableHTTPClientTransport(
            new URL(service.url),
            source.options,
          ),
        )
        await add(client)
      }),
    ),
  )
  await Promise.all(clients.map((client) => client.close()))
  return cost
}

/** Returns a client of the stateless protocol, which sends nothing to connect since it knows the server. */
async function modernClient(
  { statelessUrl }: McpService,
  { options }: TokenSource,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(
    new URL(statelessUrl),
    options,
  )
  const client = new Client(
    { name: 'my-agent', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  await client.connect(transport, { prior: knownServer })
  return client
}

/** What the server says of itself, as a host keeps it between two starts. */
const knownServer: PriorDiscovery = {
  kind: 'modern',
  discover: {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'sums', version: '1.0.0' },
  },
}

function add(client: Client): Promise<unknown> {
  return client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
}

function fiftyCalls(client: Client): Promise<PromiseSettledResult<unknown>[]> {
  return Promise.allSettled(Array.from({ length: 50 }, () => add(client)))
}

async function costOf(
  { authorizationServer, counts }: McpService,
  act: () => Promise<PromiseSettledResult<unknown>[]>,
): Promise<Cost> {
  const { tokenRequests, discoveries } = { ...authorizationServer.counts }
  const { refused } = counts
  const results = await act()
  return {
    tokenRequests: authorizationServer.counts.tokenRequests - tokenRequests,
    discoveries: authorizationServer.counts.discoveries - discoveries,
    refused: counts.refused - refused,
    lost: results.filter(({ status }) => status === 'rejected').length,
  }
}
