import { createTokenManager, type TokenManager } from '@tokenlane/core'

/** APIs that no test ever reaches: one within another, one below a path, one with a port and a name to encode. */
const guardedApis = [
  { baseUrl: 'https://api.example.com/', issuer: 'general' },
  { baseUrl: 'https://api.example.com/v2/orders', issuer: 'weblink' },
  { baseUrl: 'https://weblink.example.com/api/', issuer: 'weblink' },
  { baseUrl: 'https://bücher.example:8443/a%20b/', issuer: 'general' },
] as const

/**
 * A manager of the guarded APIs. The tokens tell their issuer, and nothing leaves the process. `asked` runs while
 * a call waits for its token.
 */
export function guardingManager(asked: () => void = () => {}): TokenManager {
  const credentials = { clientId: 'client', clientSecret: 'secret' }
  return createTokenManager({
    issuers: {
      general: { tokenEndpoint: 'https://general.issuer.example/token', credentials },
      weblink: { tokenEndpoint: 'https://weblink.issuer.example/token', credentials },
    },
    apis: guardedApis,
    fetch: async (input) => {
      asked()
      const [name] = new URL(new Request(input).url).hostname.split('.')
      return Response.json({ access_token: name, token_type: 'Bearer', expires_in: 3_600 })
    },
  })
}

/** A request as it would go on the wire. */
export interface Sent {
  readonly url: string
  readonly authorization: string | null
}

/** A `fetch` that sends nothing, and keeps what the runtime would have sent, as its own `Request` reads it. */
export function recordingFetch(sent: Sent[]): typeof globalThis.fetch {
  return async (input, init) => {
    const { url, headers } = new Request(input, init)
    sent.push({ url, authorization: headers.get('authorization') })
    return new Response()
  }
}

/** Those requests that have another token than theirs, or none where they should, or one where they should not. */
export function astray(sent: readonly Sent[]): readonly Sent[] {
  return sent.filter(({ url, authorization }) => {
    const issuer = issuerFor(url)
    return authorization !== (issuer === undefined ? null : `Bearer ${issuer}`)
  })
}

/**
 * Which issuer's token a request to `sent` may carry, told independently of the router: by comparing host, port
 * and the path's segments one by one, after the WHATWG URL parser.
 */
export function issuerFor(sent: string): 'general' | 'weblink' | undefined {
  if (!URL.canParse(sent)) return undefined
  const target = new URL(sent)
  if (target.protocol !== 'https:' || target.username || target.password) return undefined
  let most = -1
  let issuer: 'general' | 'weblink' | undefined
  for (const api of guardedApis) {
    const base = new URL(api.baseUrl)
    if (target.hostname !== base.hostname || target.port !== base.port) continue
    const wanted = base.pathname.slice(1).split('/')
    const given = target.pathname.slice(1).split('/')
    // a base that ends with a slash needs one there, whatever comes after it
    const isFolder = wanted.at(-1) === ''
    const names = isFolder ? wanted.slice(0, -1) : wanted
    if (isFolder && given.length <= names.length) continue
    if (!names.every((name, index) => given[index] === name) || names.length <= most) continue
    most = names.length
    issuer = api.issuer
  }
  return issuer
}
