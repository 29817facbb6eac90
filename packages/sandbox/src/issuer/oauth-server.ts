import type { IncomingMessage, ServerResponse } from 'node:http'

import { exportJWK, generateKeyPair } from 'jose'
import { errors, Provider, type Adapter, type Configuration, type KoaContextWithOIDC } from 'oidc-provider'

import { send, type Answer } from '../server/answer.ts'
import type { ClientRegistration } from './client-registration.ts'
import { createJwtReader } from './jwt-reader.ts'
import type { LedgerEntry, TokenLedger } from './token-ledger.ts'

export interface OAuthServerOptions {
  /** The issuer identifier; the token endpoint is on this origin. */
  origin: string
  tokenPath: string
  /** The scope that a token request must name. With `undefined` a token request must name no scope. */
  scope: string | undefined
  tokenFormat: 'jwt' | 'opaque'
  registration: ClientRegistration
  ledger: TokenLedger
  /** Returns the time on the issuer's clock for the claims of its tokens, in milliseconds since 1970. */
  epoch: () => number
}

/** A token request and the response of the authorization server. */
export interface TokenExchange {
  clientId: string | undefined
  clientSecret: string | undefined
  /** Id of the token that was issued. */
  tokenId: string | undefined
  /** Error of RFC 6749 §5.2, with its description. */
  error: string | undefined
}

/** One authorization server that grants client credentials (RFC 6749 §4.4). */
export interface OAuthServer {
  handle(request: IncomingMessage, response: ServerResponse): Promise<TokenExchange>
  /** Returns the ledger's entry of a token that this server issued, and `undefined` for any other. */
  find(token: string): Promise<LedgerEntry | undefined>
}

const algorithm = 'ES256'

/** Makes an authorization server with oidc-provider, which only this file uses. */
export async function createOAuthServer(options: OAuthServerOptions): Promise<OAuthServer> {
  const { origin, ledger, registration, scope, tokenFormat } = options
  const audience = `${origin}/api`
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })

  const provider = new Provider(origin, {
    adapter: () => noStorage,
    clients: [
      {
        client_id: registration.clientId,
        // required, but never compared: see compareClientSecret below
        client_secret: registration.credentials().clientSecret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        token_endpoint_auth_method: 'client_secret_post',
        ...(scope === undefined ? {} : { scope }),
      },
    ],
    // the algorithm of JWT access tokens too
    clientDefaults: { id_token_signed_response_alg: algorithm },
    clientAuthMethods: ['client_secret_post'],
    clientBasedCORS: () => false,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo(context, resource) {
          if (resource !== audience) throw new errors.InvalidTarget()
          checkScope(context, scope)
          return {
            scope: scope ?? '',
            audience,
            accessTokenFormat: tokenFormat,
          }
        },
      },
    },
    formats: {
      customizers: {
        jwt(_context, _token, { payload }) {
          const issuedAt = options.epoch() / 1_000
          payload['iat'] = issuedAt
          payload['exp'] = issuedAt + ledger.lifetime / 1_000
        },
      },
    },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'sandbox', alg: algorithm, use: 'sig' }] },
    routes: { token: options.tokenPath },
    scopes: scope === undefined ? [] : [scope],
    ttl: { ClientCredentials: () => Math.ceil(ledger.lifetime / 1_000) },
  } satisfies Configuration)

  provider.Client.prototype.compareClientSecret = (secret: string): boolean => registration.accepts(secret)
  // a JWT is "issued", an opaque token is "saved"
  const issue = ({ jti }: { jti: string }): void => ledger.issue(jti)
  provider.on('client_credentials.issued', issue)
  provider.on('client_credentials.saved', issue)
  // otherwise Koa prints errors, for example when a client closes the connection
  provider.silent = true
  const exchanges = new WeakMap<IncomingMessage, TokenExchange>()
  provider.use(async (context, next) => {
    await next()
    const { oidc } = context as Partial<KoaContextWithOIDC>
    const answer = context.body as
      | { expires_in: number; error?: string; error_description?: string }
      | undefined
    const token = context.status === 200 ? oidc?.entities.ClientCredentials : undefined
    if (token !== undefined && answer !== undefined) answer.expires_in = ledger.lifetimeOf(token.jti) / 1_000
    const { client_id: clientId, client_secret: clientSecret } = (oidc?.body ?? {}) as Record<string, string>
    const error = answer?.error
    exchanges.set(context.req, {
      clientId,
      clientSecret,
      tokenId: token?.jti,
      error: error === undefined ? undefined : `${error}, ${answer?.error_description}`,
    })
  })

  const handle = provider.callback()
  const readJwt = createJwtReader({ publicKey, algorithm, issuer: origin, audience })
  // an opaque token is its own id
  const idOf = async (token: string) => (tokenFormat === 'jwt' ? readJwt(token) : token)
  return {
    async handle(request, response) {
      // oidc-provider would accept client_secret_basic in place of client_secret_post
      if (request.headers.authorization !== undefined) {
        send(response, credentialsOutsideOfForm)
        return { ...noExchange, error: 'invalid_client, credentials are only accepted in the form body' }
      }
      // oidc-provider sends errors as HTML to a client that prefers HTML
      request.headers.accept = 'application/json'
      await handle(request, response)
      return exchanges.get(request) ?? noExchange
    },
    async find(token) {
      const id = await idOf(token)
      return id === undefined ? undefined : ledger.entryOf(id)
    },
  }
}

const noExchange: TokenExchange = {
  clientId: undefined,
  clientSecret: undefined,
  tokenId: undefined,
  error: undefined,
}

/** Stores nothing: the ledger keeps the tokens, and the rest is not needed. */
const noStorage: Adapter = {
  upsert: async () => {},
  find: async () => {},
  findByUid: async () => {},
  findByUserCode: async () => {},
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
}

/** Refuses a wrong scope. By default oidc-provider drops an unknown scope and grants the rest. */
function checkScope({ oidc }: KoaContextWithOIDC, required: string | undefined): void {
  const requested = oidc.params?.['scope']
  if (requested === required) return
  const allowed = required === undefined ? 'this issuer has no scopes' : `scope ${required} is required`
  throw new errors.InvalidScope(allowed, requested as string)
}

/** Response to credentials in an `Authorization` header: a refusal with a challenge (RFC 6749 §5.2). */
const credentialsOutsideOfForm: Answer = {
  status: 401,
  headers: {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'www-authenticate': 'Basic realm="sandbox"',
  },
  body: JSON.stringify({
    error: 'invalid_client',
    error_description: 'credentials are only accepted in the form body',
  }),
}
