import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import { exportJWK, generateKeyPair } from 'jose'
import {
  errors,
  Provider,
  type Adapter,
  type AdapterPayload,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider'

import type { Flaw, LedgerEntry } from '../journal/entry.ts'
import { send, type Answer } from '../server/answer.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { ClientRegistration } from './client-registration.ts'
import type { AssertionJudgement, Cluster } from './cluster.ts'
import type { IssuerSettings } from './issuer-settings.ts'
import type { TokenLedger } from './token-ledger.ts'

export interface OAuthServerOptions {
  /** The issuer identifier; the token endpoint is on this origin. */
  origin: string
  settings: Required<IssuerSettings>
  tokenFormat: 'jwt' | 'opaque'
  /** The `resource` that a token is for (RFC 8707), unless the settings name another audience. */
  audience: string
  registration: ClientRegistration
  ledger: TokenLedger
  /** The issuer's clock, by which it dates its tokens. */
  clock: ServerClock
}

export type Form = Readonly<Partial<Record<string, string>>>

/** A token request and the response of the authorization server. */
export interface TokenExchange {
  form: Form
  /** The token that was issued. */
  token: LedgerEntry | undefined
  /** Error of RFC 6749 §5.2, with its description. */
  error: string | undefined
  /** What the server found wrong with the client, which a response does not say. */
  detail: string | undefined
  /** What the client did wrong with its assertion, which may have been accepted. */
  assertionFlaws?: readonly Flaw[]
}

/** One authorization server that grants client credentials (RFC 6749 §4.4). */
export interface OAuthServer {
  handle(request: IncomingMessage, response: ServerResponse): Promise<TokenExchange>
  /** The keys with which its tokens are verified (RFC 7517 §5). */
  readonly jwks: object
}

const algorithm = 'ES256'
const keyUse = { kid: 'sandbox', alg: algorithm, use: 'sig' }

/** Makes an authorization server with oidc-provider, which only this file uses. */
export async function createOAuthServer(
  options: OAuthServerOptions,
  cluster: Cluster | undefined,
): Promise<OAuthServer> {
  const { origin, audience, ledger, registration, settings, tokenFormat, clock } = options
  const { clientAuthentication, scope, tokenPath } = settings
  /** Stands for a checked assertion: oidc-provider knows none whose subject is not the client. */
  const vouched = randomBytes(32).toString('base64url')
  const scopes = scopesOf(scope)
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })

  /** Read at each token request, because a key may have been rotated. */
  const findClient = async (id: string): Promise<AdapterPayload | undefined> => {
    if (id !== registration.clientId) return undefined
    return {
      client_id: id,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: clientAuthentication,
      ...(clientAuthentication === 'private_key_jwt'
        ? { jwks: { keys: registration.publicKeys() } }
        : // required, but never compared: see compareClientSecret below
          { client_secret: 'of the registration' }),
      ...(scope !== '' && { scope }),
    }
  }
  const provider = new Provider(origin, {
    adapter: (kind) => (kind === 'Client' ? { ...noStorage, find: findClient } : noStorage),
    // the algorithm of JWT access tokens too
    clientDefaults: { id_token_signed_response_alg: algorithm },
    clientAuthMethods: [clientAuthentication],
    clientBasedCORS: () => false,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo(context, resource) {
          if (resource !== audience) throw new errors.InvalidTarget()
          checkScope(context, scopes)
          return { scope, audience, accessTokenFormat: tokenFormat }
        },
      },
    },
    formats: {
      customizers: {
        jwt(_context, _token, { payload }) {
          const issuedAt = clock.epoch() / 1_000
          payload['iat'] = issuedAt
          payload['exp'] = issuedAt + ledger.lifetime / 1_000
          Object.assign(payload, settings.claims)
        },
      },
    },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), ...keyUse }] },
    routes: { token: tokenPath },
    scopes,
    ttl: { ClientCredentials: () => Math.ceil(ledger.lifetime / 1_000) },
  } satisfies Configuration)

  provider.Client.prototype.compareClientSecret = (secret: string): boolean =>
    registration.accepts(secret) || secret === vouched
  // otherwise Koa prints errors, for example when a client closes the connection
  provider.silent = true
  const details = new WeakMap<IncomingMessage, string>()
  provider.on('grant.error', ({ req }, { error_detail: detail }) => {
    if (detail !== undefined) details.set(req, detail)
  })
  const exchanges = new WeakMap<IncomingMessage, TokenExchange>()
  provider.use(async (context, next) => {
    await next()
    const { oidc } = context as Partial<KoaContextWithOIDC>
    const answer = context.body as
      | { access_token?: string; expires_in: number; error?: string; error_description?: string }
      | undefined
    const { access_token: issued, error } = answer ?? {}
    const token = issued === undefined ? undefined : ledger.issue(issued)
    if (token !== undefined && answer !== undefined) answer.expires_in = token.lifetime / 1_000
    exchanges.set(context.req, {
      form: (oidc?.body ?? {}) as Form,
      token,
      error: error === undefined ? undefined : `${error}, ${answer?.error_description}`,
      detail: details.get(context.req),
    })
  })

  const handle = provider.callback()
  /** Checks an assertion of the cluster. Returns the request in a form that oidc-provider takes unless it is refused. */
  async function withoutAssertion(
    request: IncomingMessage,
    trusted: Cluster,
  ): Promise<{ request: IncomingMessage; form: Form } & AssertionJudgement> {
    const body = await buffer(request)
    const form = new URLSearchParams(body.toString())
    const asked = Object.fromEntries(form)
    const assertion = form.get('client_assertion')
    if (assertion === null) return { request: resent(request, body), form: asked, flaws: [] }
    const judged = trusted.judge(assertion)
    if (judged.fault !== undefined) return { request, form: asked, ...judged }
    form.delete('client_assertion')
    form.delete('client_assertion_type')
    const authorization = `Basic ${btoa(`${registration.clientId}:${vouched}`)}`
    if (clientAuthentication === 'client_secret_post') form.set('client_secret', vouched)
    else form.delete('client_id')
    const basic = clientAuthentication === 'client_secret_basic' && { authorization }
    return { request: resent(request, Buffer.from(form.toString()), { ...basic }), form: asked, ...judged }
  }

  return {
    jwks: { keys: [{ ...(await exportJWK(publicKey)), ...keyUse }] },
    async handle(request, response) {
      // oidc-provider would accept client_secret_basic in place of client_secret_post
      if (clientAuthentication === 'client_secret_post' && request.headers.authorization !== undefined) {
        send(response, invalidClient(onlyInForm, { 'www-authenticate': 'Basic realm="sandbox"' }))
        return { ...noExchange, error: `invalid_client, ${onlyInForm}` }
      }
      // oidc-provider sends errors as HTML to a client that prefers HTML
      request.headers.accept = 'application/json'
      if (cluster === undefined) {
        await handle(request, response)
        return exchanges.get(request) ?? noExchange
      }
      const { request: asked, form, fault, flaws: assertionFlaws } = await withoutAssertion(request, cluster)
      if (fault !== undefined) {
        send(response, invalidClient(`the assertion is refused: ${fault}`))
        return { ...noExchange, form, error: 'invalid_client', detail: fault, assertionFlaws }
      }
      await handle(asked, response)
      return { ...(exchanges.get(asked) ?? noExchange), assertionFlaws }
    },
  }
}

/** Returns a request that was read, with this body. */
function resent(request: IncomingMessage, body: Buffer, headers: object = {}): IncomingMessage {
  const { method, url, httpVersion, socket } = request
  const all = { ...request.headers, ...headers, 'content-length': String(body.length) }
  return Object.assign(Readable.from([body]), { method, url, httpVersion, socket, headers: all }) as never
}

/** Refuses a client (RFC 6749 §5.2). */
function invalidClient(error_description: string, challenge = {}): Answer {
  return {
    status: 401,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...challenge },
    body: JSON.stringify({ error: 'invalid_client', error_description }),
  }
}

const noExchange: TokenExchange = { form: {}, token: undefined, error: undefined, detail: undefined }

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
function checkScope({ oidc }: KoaContextWithOIDC, required: readonly string[]): void {
  const requested = (oidc.params?.['scope'] as string | undefined) ?? ''
  if (scopesOf(requested).join(' ') === required.join(' ')) return
  const allowed =
    required.length === 0 ? 'this issuer has no scopes' : `scope ${required.join(' ')} is required`
  throw new errors.InvalidScope(allowed, requested)
}

/** Returns the scopes of a list, whose order means nothing. */
const scopesOf = (list: string): string[] => (list === '' ? [] : list.split(' ').toSorted())

const onlyInForm = 'credentials are only accepted in the form body'
