import { openScriptedApi, type ScriptedResponse, type SeenRequest } from '@tokenlane/conformance'
import { createTokenManager, type TokenManager } from '@tokenlane/core'

/** A call as `fetch` and ky take it. */
type Arguments = [input: Request | string, init?: RequestInit]
type Send = (...call: Arguments) => Promise<Response>

/** A call that is redirected, compared with the bare client. */
export interface RedirectCase {
  readonly name: string
  readonly call: (places: Places) => Arguments
}

/** Where the calls of a case may lead. */
export interface Places {
  /** Returns a URL of the API that redirects to `to`. */
  readonly via: (to: string, options?: { status?: number; policy?: string }) => string
  /** A URL of the API that answers. */
  readonly inside: string
  /** One of the same origin outside of every API. */
  readonly beside: string
  /** One of another origin. */
  readonly elsewhere: string
}

const page = 'https://app.example/page?x=1'
const form = (): FormData => {
  const fields = new FormData()
  fields.set('a', 'b')
  return fields
}
const stream = (): RequestInit => ({ method: 'POST', body: new Blob(['xyz']).stream(), duplex: 'half' })
const targets = ['inside', 'beside', 'elsewhere'] as const
const each = <Item>(items: readonly Item[], make: (item: Item) => RedirectCase[]): RedirectCase[] =>
  items.flatMap((item) => make(item))

const cases: readonly RedirectCase[] = [
  ...each(targets, (target) => [
    ...each([301, 302, 303, 307, 308], (status) => [
      ...each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'patch', 'custom'], (method) => [
        {
          name: `${status} of a ${method} to a place ${target}`,
          call: (places) => [
            places.via(places[target], { status }),
            {
              method,
              headers: {
                Cookie: 'a=b',
                'X-Some': 'thing',
                'Content-Language': 'en',
                'Proxy-Authorization': 'Basic eA==',
              },
              ...(method !== 'GET' && method !== 'HEAD' && { body: 'text' }),
            },
          ],
        },
      ]),
      {
        name: `${status} of a POST without a body to a place ${target}`,
        call: (places) => [places.via(places[target], { status }), { method: 'POST' }],
      },
      {
        name: `${status} of a stream to a place ${target}`,
        call: (places) => [places.via(places[target], { status }), stream()],
      },
    ]),
    ...each(['cors', 'no-cors', 'same-origin'] as const, (mode) => [
      {
        name: `mode ${mode} to a place ${target}`,
        call: (places) => [places.via(places[target], { status: 307 }), { method: 'POST', body: 'x', mode }],
      },
      {
        name: `mode ${mode} of a Request, twice inside, then to a place ${target}`,
        call: (places) => [new Request(places.via(places.via(places[target])), { mode })],
      },
      {
        name: `mode ${mode} to another origin and from there to a place ${target}`,
        call: (places) => [
          places.via(`${places.elsewhere}?to=${encodeURIComponent(places[target])}`),
          { mode },
        ],
      },
    ]),
    ...each(
      ['', 'no-referrer', 'origin', 'unsafe-url', 'strict-origin', 'origin-when-cross-origin'] as const,
      (referrerPolicy) => [
        {
          name: `a Request's referrer with policy '${referrerPolicy}' to a place ${target}`,
          call: (places) => [new Request(places.via(places[target]), { referrer: page, referrerPolicy })],
        },
        {
          name: `an init's referrer with policy '${referrerPolicy}' to a place ${target}`,
          call: (places) => [places.via(places[target]), { referrer: page, referrerPolicy }],
        },
      ],
    ),
    {
      name: `a Request's referrer beside an init, which drops it, to a place ${target}`,
      call: (places) => [
        new Request(places.via(places[target]), { referrer: page, referrerPolicy: 'unsafe-url' }),
        { headers: { 'x-some': 'thing' } },
      ],
    },
    ...each(['origin', 'no-referrer', 'unsafe-url', 'unsafe-url, nonsense', 'nonsense', ''], (policy) => [
      {
        name: `a redirect that asks for the policy '${policy}' to a place ${target}`,
        call: (places) => [
          places.via(places[target], { policy }),
          { referrer: page, referrerPolicy: 'unsafe-url' },
        ],
      },
      {
        name: `a redirect that asks for the policy '${policy}', and one for all, to a place ${target}`,
        call: (places) => [
          places.via(places.via(places[target], { policy: 'unsafe-url' }), { policy }),
          { referrer: page, referrerPolicy: 'unsafe-url' },
        ],
      },
    ]),
    {
      name: `a form to a place ${target}`,
      call: (places) => [places.via(places[target], { status: 307 }), { method: 'POST', body: form() }],
    },
    {
      name: `left to the caller to a place ${target}`,
      call: (places) => [places.via(places[target]), { redirect: 'manual' }],
    },
    {
      name: `forbidden to a place ${target}`,
      call: (places) => [places.via(places[target]), { redirect: 'error' }],
    },
  ]),
  ...each(
    [
      '?fragment#there',
      '#only',
      '',
      '/api/ö',
      'data:,x',
      'ftp://127.0.0.1/',
      'http://user@127.0.0.1:1/',
      'http://[',
    ],
    (location) => [{ name: `to the location '${location}'`, call: ({ via }) => [via(location)] }],
  ),
  ...each([300, 304, 305], (status) => [
    { name: `${status}, which is not a redirect`, call: ({ via, inside }) => [via(inside, { status })] },
  ]),
]

/** Node 22 has undici 6, whose `no-cors` hangs at another origin, and whose `no-referrer` says the page's origin. */
const brokenOnNode22 = /no-cors.* (?:elsewhere|another origin)|'no-referrer'/

/** What the Fetch standard, undici's tests and WPT say of redirects, where the runtime's own `fetch` does it. */
export const redirectCases = cases.filter(
  ({ name }) => !process.versions['undici']?.startsWith('6.') || !brokenOnNode22.test(name),
)

/** The runtime's `fetch`, without what Node 24 has as its own: there a `Request` loses its referrer on the way. */
export const bareFetch: typeof globalThis.fetch = (input, init) => {
  if (!(input instanceof Request) || Object.keys(init ?? {}).length > 0) return globalThis.fetch(input, init)
  const { referrer, referrerPolicy } = input
  return globalThis.fetch(input, { referrer, referrerPolicy })
}

/** What a caller and the servers saw of one call. */
export interface Seen {
  readonly outcome: unknown
  readonly requests: readonly unknown[]
}

/** Redirects to where the query of the URL says. */
function answer({ url }: SeenRequest): ScriptedResponse {
  const { searchParams } = new URL(url, 'http://loopback')
  const to = searchParams.get('to')
  const policy = searchParams.get('policy')
  return {
    status: to === null ? 200 : Number(searchParams.get('status') ?? 302),
    headers: {
      ...(to !== null && { location: Buffer.from(to).toString('latin1') }),
      ...(policy !== null && { 'referrer-policy': policy }),
    },
  }
}

/** Sends the call of a case with a bare client and with a managed one, and returns what came of each. */
export async function compareRedirects(
  { call }: RedirectCase,
  { bare, attach }: { bare: Send; attach: (tokens: TokenManager) => Send },
): Promise<{ bare: Seen; managed: Seen }> {
  const home = await openScriptedApi(answer)
  const other = await openScriptedApi(answer)
  const places: Places = {
    via(to, { status = 302, policy } = {}) {
      const url = new URL(`${home.url}api/?status=${status}`)
      url.searchParams.set('to', to)
      if (policy !== undefined) url.searchParams.set('policy', policy)
      return url.href
    },
    inside: `${home.url}api/there`,
    beside: `${home.url}beside`,
    elsewhere: `${other.url}there`,
  }
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://issuer.example/token',
        credentials: { clientId: 'a', clientSecret: 'b' },
        allowInsecureLoopback: true,
      },
    },
    apis: [{ baseUrl: `${home.url}api/`, issuer: 'general' }],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
  })
  const see = async (send: Send): Promise<Seen> => {
    const before = [home, other].map(({ requests }) => requests.length)
    const outcome = await send(...call(places)).then(shownResponse, shownError)
    const requests = [home, other].map((server, index) =>
      server.requests.slice(before[index]).map(shownRequest),
    )
    return { outcome, requests }
  }
  try {
    return { bare: await see(bare), managed: await see(attach(tokens)) }
  } finally {
    await Promise.all([home.close(), other.close(), tokens.close()])
  }
}

async function shownResponse(response: Response): Promise<unknown> {
  const { status, type, redirected, url } = response
  return { status, type, redirected, url, text: await response.text() }
}

function shownError(error: unknown): unknown {
  const { name, message, cause } = error as Error
  return { name, message, cause: (cause as Error | undefined)?.name }
}

/** All but the token: names in lower case and in order, boundaries of forms without their random part. */
function shownRequest({ method, url, headers, body }: SeenRequest): unknown {
  const fields = Object.entries(headers).filter(([name]) => name !== 'authorization')
  return {
    method,
    url,
    headers: plain(
      fields
        .map((field) => field.join(': '))
        .toSorted((a, b) => (a < b ? -1 : 1))
        .join('\n'),
    ),
    body: plain(body.toString()),
  }
}

function plain(text: string): string {
  return text.replaceAll(/(formdata-undici-|----)[\w-]+/g, '$1')
}
