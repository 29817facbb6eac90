import { checkCallOptions, isReplayable, type CallOptions, type Hop } from '@tokenlane/core/adapter'

import { fieldsOf, hasAuthorization, withToken, type Fields } from './fields.ts'
import { isLiteral } from './literal.ts'

type Input = Parameters<typeof globalThis.fetch>[0]

/** What `fetch` takes, and how this call wants to be treated. */
export interface TokenlaneRequestInit extends RequestInit {
  readonly tokenlane?: CallOptions | undefined
}

/** What the Fetch standard reads of `init`, and Node's `dispatcher`; an object of any class may have them. */
const members = [
  'body',
  'cache',
  'credentials',
  'dispatcher',
  'duplex',
  'headers',
  'integrity',
  'keepalive',
  'method',
  'mode',
  'priority',
  'redirect',
  'referrer',
  'referrerPolicy',
  'signal',
  'window',
] as const

/** Where a call goes, and whether the caller's own `fetch` sends it. */
interface Way {
  /** What was asked where the call leads. */
  readonly url: string
  readonly baseUrl: string
  readonly ownFetch: boolean
}

/** One call of `fetch`: what was asked, and how to send it more than once. */
export class Call implements Hop {
  /** Whether the body can be sent again; `false` for one that can be read once. */
  readonly replayable: boolean
  readonly followsRedirects: boolean
  readonly signal: AbortSignal | null | undefined
  readonly priority: number | undefined
  readonly resend: boolean | undefined
  readonly client = 'fetch'
  /** A URL as text: the caller may change a URL object while the call waits. */
  readonly #input: Request | string
  readonly #init: RequestInit
  /** All that is asked, whether `init` or the request asks it. */
  readonly #asked: RequestInit
  readonly #fields: Fields
  /** A request whose body is sent: always a copy ahead, since sending uses it up. */
  #copy: Request | undefined
  #sent = false

  constructor(input: Input, init: TokenlaneRequestInit | undefined, { url, baseUrl, ownFetch }: Way) {
    const request = isRequest(input) ? input : undefined
    const own = plain(init)
    const { priority, resend } = checkCallOptions(own.tokenlane)
    this.priority = priority
    this.resend = resend
    if ('tokenlane' in own) delete (own as { tokenlane?: unknown }).tokenlane
    this.#init = own
    this.#input = request ?? unmistakable(url, baseUrl)
    this.#asked = request === undefined ? own : filled(own, request)
    const { redirect = 'follow', headers, signal } = this.#asked
    // a `fetch` of the caller's may want to add to them
    this.#fields = ownFetch ? new Headers(headers) : fieldsOf(headers)
    this.followsRedirects = redirect === 'follow'
    this.signal = signal
    const body = own.body ?? undefined
    if (body === undefined && request?.body) this.#copy = request
    this.replayable = isReplayable(body)
  }

  get url(): URL {
    return new URL(urlOf(this.#input))
  }

  get method(): string {
    const { method = 'GET' } = this.#asked
    return /^(?:get|head|post|put|delete|options)$/i.test(method) ? method.toUpperCase() : method
  }

  get headers(): Headers {
    return new Headers(this.#fields)
  }

  get hasBody(): boolean {
    return this.#copy !== undefined || (this.#init.body ?? undefined) !== undefined
  }

  /** Whether the caller brings an `Authorization` field. */
  get hasOwnAuthorization(): boolean {
    return hasAuthorization(this.#fields)
  }

  get dispatcher(): unknown {
    return (this.#asked as { readonly dispatcher?: unknown }).dispatcher
  }

  /** Sends the call as it was made, but for the token and for redirects, which are followed elsewhere. */
  send(fetch: typeof globalThis.fetch, authorization: string): Promise<Response> {
    const init: RequestInit = { ...this.#init, headers: withToken(this.#fields, authorization) }
    if (this.followsRedirects) init.redirect = 'manual'
    this.#sent = true
    return fetch(this.#nextCopy() ?? this.#input, init)
  }

  /** What a redirect of the call is sent with. */
  async initFor({ method, headers, hasBody }: Hop): Promise<RequestInit> {
    const init: RequestInit = { ...this.#asked, method, headers, redirect: 'manual' }
    delete init.body
    if (!hasBody) return init
    // read as a whole, so that its length is known, as in the first request
    const body = (await this.#nextCopy()?.arrayBuffer()) ?? this.#init.body
    return body === undefined ? init : { ...init, body }
  }

  /** Lets go of the copy that was not needed, and of a stream that was never sent, as `fetch` does. */
  end(): void {
    const { body } = this.#init
    const unsent = !this.#sent && body instanceof ReadableStream ? body : undefined
    // ends when all copies have ended, so nobody waits for it
    ;(unsent ?? this.#copy?.body)?.cancel().catch(() => {})
  }

  #nextCopy(): Request | undefined {
    const copy = this.#copy
    this.#copy = copy?.clone()
    return copy
  }
}

/** The URL of a call, as `fetch` reads it: what is no request is text, whatever it is. */
export function urlOf(input: Input): string {
  return isRequest(input) ? input.url : textOf(input)
}

/** Also for a `Request` of another realm or package, but not for what `fetch` would take for a URL. */
function isRequest(input: Input): input is Request {
  return typeof input === 'object' && input !== null && 'url' in input && !URL.canParse(textOf(input))
}

/** What `fetch` makes of anything but a `Request`. */
function textOf(input: unknown): string {
  return String(input)
}

/** Text that every parser reads as leading to the API, as the router read it. */
function unmistakable(url: string, baseUrl: string): string {
  return url.startsWith(baseUrl) ? url : new URL(url).href
}

/** A copy of `init`, which may be an object with getters, such as a `Request`. */
function plain(init: TokenlaneRequestInit | undefined): TokenlaneRequestInit {
  const given = init ?? {}
  return isLiteral(given) ? { ...given } : filled(given, given)
}

/** A copy of `init` where what it leaves open, also by `undefined`, is as the other has it. */
function filled(init: TokenlaneRequestInit, other: RequestInit | Request): TokenlaneRequestInit {
  const copy = { ...init } as Record<string, unknown>
  const from = other as Readonly<Record<string, unknown>>
  for (const name of members)
    if (copy[name] === undefined && from[name] !== undefined) copy[name] = from[name]
  return copy
}
