// oidc-provider in a process of its own: its clock is not that of the tests, which set theirs.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { exportJWK, generateKeyPair } from 'jose'
import { errors, Provider, type Adapter, type ClientMetadata, type Configuration } from 'oidc-provider'

/** What the tests send: the clients from now on, and the path of the token endpoint. */
export interface Registration {
  readonly clients: readonly ClientMetadata[]
  readonly tokenPath: string
}

/** What the tests send first. */
export interface ServerData {
  readonly key: string
  readonly cert: string
  /** The authority of clients' certificates. */
  readonly ca: string
}

const { privateKey } = await generateKeyPair('RS256', { extractable: true })
const jwk = { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' }

let clients: readonly ClientMetadata[] = []

/** Knows clients and nothing else: tokens are not looked up again. */
class Clients implements Adapter {
  readonly #model: string
  constructor(model: string) {
    this.#model = model
  }
  async find(id: string): Promise<ClientMetadata | undefined> {
    return this.#model === 'Client' ? clients.find((client) => client.client_id === id) : undefined
  }
  async upsert(): Promise<void> {}
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async consume(): Promise<void> {}
  async destroy(): Promise<void> {}
  async revokeByGrantId(): Promise<void> {}
}

const [{ key, cert, ca }] = (await once(process, 'message')) as [ServerData]
const server = createServer({ key, cert, ca, requestCert: true, rejectUnauthorized: false })
server.listen(0, '127.0.0.1', () => {
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`
  let handle = providerOf(issuer, '/token').callback()
  server.on('request', (request, response) => {
    request.headers.accept = 'application/json'
    void handle(request, response)
  })
  process.on('message', (registration: Registration) => {
    clients = registration.clients
    handle = providerOf(issuer, registration.tokenPath).callback()
    process.send?.('registered')
  })
  process.send?.(issuer)
})

function providerOf(issuer: string, tokenPath: string): Provider {
  const provider = new Provider(issuer, {
    adapter: Clients,
    clientAuthMethods: ['client_secret_post', 'client_secret_basic', 'private_key_jwt', 'tls_client_auth'],
    enabledJWA: { clientAuthSigningAlgValues: ['RS256', 'PS256', 'ES256', 'Ed25519', 'EdDSA'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      mTLS: {
        enabled: true,
        tlsClientAuth: true,
        getCertificate: ({ req }) => pemOf((req.socket as TLSSocket).getPeerX509Certificate()?.toString()),
        certificateAuthorized: ({ req }) => (req.socket as TLSSocket).authorized,
        certificateSubjectMatches: ({ req }, _property, expected) =>
          (req.socket as TLSSocket).getPeerX509Certificate()?.subject === expected,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_context, resource) {
          if (!resource.startsWith('https://api.example.com')) throw new errors.InvalidTarget()
          return { scope: 'read', audience: resource, accessTokenFormat: 'jwt' }
        },
      },
    },
    jwks: { keys: [jwk] },
    scopes: ['read'],
    routes: { token: tokenPath },
    ttl: { ClientCredentials: () => 2 },
  } satisfies Configuration)
  provider.silent = true
  return provider
}

function pemOf(text: string | undefined): string | undefined {
  return text?.trim()
}
