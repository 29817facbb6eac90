import { createTokenManager, generalIssuer, type TokenManager } from '../src/index.ts'
import type { Credentials, IssuerSettings, TokenlaneEvent, TokenManagerOptions } from '../src/index.ts'

/** An answer of the issuer, or what its transport fails with. */
type Answer = Response | Error | Promise<Response>

/** A token endpoint in the place of `fetch`: counts requests, and responds as a test says. */
export class FakeIssuer {
  /** The form of every token request. */
  readonly requests: Record<string, string>[] = []
  /** The URL of every token request. */
  readonly urls: string[] = []
  lifetime: unknown = 3_600
  #next: (() => Answer)[] = []
  #always: (() => Answer) | undefined
  #issued = 0

  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    this.urls.push(url as string)
    this.requests.push(Object.fromEntries(init.body as URLSearchParams))
    const answer = (this.#next.shift() ?? this.#always ?? (() => this.token()))()
    if (answer instanceof Error) throw answer
    return answer
  }

  get count(): number {
    return this.requests.length
  }

  respondOnceWith(answer: () => Answer): this {
    this.#next.push(answer)
    return this
  }

  respondWith(answer: (() => Answer) | undefined): this {
    this.#always = answer
    return this
  }

  /** A token answer: token-1, token-2 and so on. */
  token(): Response {
    this.#issued += 1
    return json({ access_token: `token-${this.#issued}`, token_type: 'Bearer', expires_in: this.lifetime })
  }

  /** Answers after `ms` on the (faked) clock. */
  after(ms: number, answer: () => Response = () => this.token()): Promise<Response> {
    return new Promise((resolve) => setTimeout(() => resolve(answer()), ms))
  }
}

function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers })
}

export const unavailable = (retryAfter?: string): Response =>
  new Response('<h1>busy</h1>', { status: 503, headers: retryAfter ? { 'retry-after': retryAfter } : {} })

export const refusal = (error = 'invalid_client'): Response => json({ error }, 401)

export const client: Credentials = { clientId: 'client-1', clientSecret: 'secret-1' }

/** Takes only this secret from now on. */
export function acceptOnly(issuer: FakeIssuer, secret: string): void {
  issuer.respondWith(() =>
    issuer.requests.at(-1)?.['client_secret'] === secret ? issuer.token() : refusal('invalid_client'),
  )
}

/** The secret of every token request. */
export const secretsOf = (issuer: FakeIssuer): (string | undefined)[] =>
  issuer.requests.map(({ client_secret: secret }) => secret)

export interface FakeService {
  readonly issuer: FakeIssuer
  readonly tokens: TokenManager
  readonly events: TokenlaneEvent[]
  eventsOf<T extends TokenlaneEvent['type']>(type: T): Extract<TokenlaneEvent, { type: T }>[]
}

/** A manager with one issuer, `general`, that protects https://api.example.com/. */
export function fakeService(
  settings: Partial<IssuerSettings & { authUrl: string }> = {},
  options: Partial<TokenManagerOptions> = {},
): FakeService {
  const issuer = new FakeIssuer()
  const events: TokenlaneEvent[] = []
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client, ...settings }),
    },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
    observe: (event) => events.push(event),
    fetch: issuer.fetch,
    ...options,
  })
  return {
    issuer,
    tokens,
    events,
    eventsOf: <T extends TokenlaneEvent['type']>(type: T) =>
      events.filter((event): event is Extract<TokenlaneEvent, { type: T }> => event.type === type),
  }
}
