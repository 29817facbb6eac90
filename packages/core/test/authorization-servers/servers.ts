// Authorization servers of others that run in the process of the tests: each with one client, whose secrets a test sets.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { AuthorizationServer, DateInterval } from '@jmondi/oauth2-server'
import { requestFromVanilla, responseToVanilla, handleVanillaError } from '@jmondi/oauth2-server/vanilla'
import OAuth2Server from '@node-oauth/oauth2-server'
import { OAuth2Server as MockServer } from 'oauth2-mock-server'
import oauth2orize, { type MiddlewareRequest } from 'oauth2orize'
import { Passport } from 'passport'
import { BasicStrategy } from 'passport-http'
import { Strategy as PasswordStrategy } from 'passport-oauth2-client-password'
import { lifetime, type Registered, type Server } from './checks.ts'

export const servers: readonly Server[] = [
  {
    name: '@node-oauth/oauth2-server',
    decodesBasic: false,
    knowsClients: true,
    refusal: 'invalid_client',
    start(registered) {
      const oauth = new OAuth2Server({
        accessTokenLifetime: lifetime,
        model: {
          getClient: async (id, secret) => isClient(registered, id, secret) && nodeClient(id),
          getUserFromClient: async () => ({}),
          saveToken: async (token, client) => ({ ...token, client, user: {} }),
          getAccessToken: async () => false,
          validateScope: async (_user, _client, scope) =>
            scope?.includes('admin') === true ? false : (scope ?? []),
        },
      })
      return answering(async (request, body) => {
        const asked = new OAuth2Server.Request({
          method: request.method,
          query: {},
          headers: { ...Object.fromEntries(request.headers), 'content-length': String(body.length) },
          body: Object.fromEntries(new URLSearchParams(body)),
        })
        const given = new OAuth2Server.Response({})
        await oauth.token(asked, given).catch(() => {})
        return Response.json(given.body, { status: given.status ?? 500, headers: given.headers ?? {} })
      })
    },
  },
  {
    name: '@jmondi/oauth2-server',
    decodesBasic: false,
    knowsClients: true,
    refusal: 'invalid_client',
    start(registered) {
      const server = new AuthorizationServer(
        {
          getByIdentifier: async (id) => jmondiClient(id),
          isClientValid: async (_grant, { id }, secret) => isClient(registered, id, secret),
        },
        {
          issueToken: async (client, scopes) => ({
            accessToken: 'a-token',
            accessTokenExpiresAt: new Date(Date.now() + lifetime * 1_000),
            client,
            scopes,
          }),
          persist: async () => {},
          revoke: async () => {},
          isRefreshTokenRevoked: async () => false,
          issueRefreshToken: async (token) => token,
          getByRefreshToken: async () => Promise.reject(new Error('has none')),
        },
        {
          getAllByIdentifiers: async (names) =>
            names.filter((name) => name !== 'admin').map((name) => ({ name })),
          finalize: async (scopes) => scopes,
        },
        'a key of the server',
      )
      server.enableGrantType('client_credentials', new DateInterval(`${lifetime}s`))
      return answering(async (request, body) => {
        const asked = new Request(request, { method: 'POST', body })
        return server
          .respondToAccessTokenRequest(await requestFromVanilla(asked))
          .catch((error: unknown) => handleVanillaError(error))
          .then((given) => responseToVanilla(given as never))
      })
    },
  },
  {
    name: 'oauth2orize with passport',
    decodesBasic: false,
    knowsClients: true,
    // passport's own 401: the word `Unauthorized`
    refusal: undefined,
    start(registered) {
      const passport = new Passport()
      const check = (
        id: string,
        secret: string,
        done: (error: null, client: { id: string } | false) => void,
      ): void => done(null, isClient(registered, id, secret) && { id })
      passport.use(new BasicStrategy(check))
      passport.use(new PasswordStrategy(check))
      const server = oauth2orize.createServer()
      server.exchange(
        oauth2orize.exchange.clientCredentials((_client, scope, done) => {
          // there is none where none is asked for
          if ((scope as string[] | undefined)?.includes('admin') === true)
            done(new oauth2orize.TokenError('no such scope', 'invalid_scope'))
          else done(null, 'a-token', undefined, { expires_in: lifetime })
        }),
      )
      const authenticate = passport.authenticate(['basic', 'oauth2-client-password'], { session: false })
      const steps = [authenticate, server.token(), server.errorHandler()] as const
      return (request, response) => {
        const asked = Object.assign(request, { body: {}, query: {} }) as unknown as MiddlewareRequest & {
          body: object
        }
        const step = async (): Promise<void> => {
          asked.body = Object.fromEntries(new URLSearchParams(await text(request)))
          steps[0](asked, response, () =>
            steps[1](
              asked,
              response,
              (error) => error && steps[2](error, asked, response, () => response.end()),
            ),
          )
        }
        void step()
      }
    },
  },
  {
    name: 'oauth2-mock-server',
    decodesBasic: true,
    knowsClients: false,
    refusal: undefined,
    issuerPath: '',
    async start(_registered, { issuer }) {
      const server = new MockServer()
      await server.issuer.keys.generate('RS256')
      server.issuer.url = issuer
      server.service.on('beforeResponse', (response: { body: { expires_in?: number } }) => {
        response.body.expires_in = lifetime
      })
      return server.service.requestHandler
    },
  },
]

function isClient(registered: Registered, id: string, secret: unknown): boolean {
  return id === registered.clientId && registered.secrets.includes(String(secret))
}

const nodeClient = (id: string): { id: string; grants: string[] } => ({ id, grants: ['client_credentials'] })
const jmondiClient = (
  id: string,
): {
  id: string
  name: string
  redirectUris: string[]
  allowedGrants: ['client_credentials']
  scopes: []
} => ({
  id,
  name: id,
  redirectUris: [],
  allowedGrants: ['client_credentials'],
  scopes: [],
})

/** Returns a listener that answers with a Response, for servers that are given a Request. */
function answering(answer: (request: Request, body: string) => Promise<Response>): RequestListener {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const headers = new Headers(request.headers as Record<string, string>)
    const given = await answer(new Request('http://localhost/token', { method: 'POST', headers }), body)
    response.writeHead(given.status, Object.fromEntries(given.headers)).end(await given.text())
  }
  return (request, response) => void respond(request, response)
}
