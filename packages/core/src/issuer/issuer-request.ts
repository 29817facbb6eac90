import { abortable } from '../time/delay.ts'
import { readAsked } from '../limits/rate-limit-headers.ts'
import { faultOfProcess } from '../tls/tls-floor.ts'
import { failure, transportFailure, unusedProxy } from './issuer-failure.ts'
import type { FormField, IssuerFetch, IssuerRequest, IssuerResponse } from './protocol.ts'

/** A token response is a few KiB, and so is metadata. */
const largest = 1_048_576

/** Its message goes on after the issuer's name. */
class UnusableResponse extends Error {}

/** Sends the one request. The signal and what keeps caches away are added to it. */
type Send = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: URLSearchParams | undefined
    readonly redirect: 'manual'
  },
) => Promise<Response>

/** Makes one request to an issuer and reads its response, whatever its status; throws what failed on the way. */
export async function askServer(
  request: IssuerRequest,
  make: (send: Send) => Promise<Response>,
): Promise<IssuerResponse> {
  const { url, fetch = runtimeFetch(), signal, beforeRequest, headers: more } = request
  const fault = url.protocol === 'https:' ? faultOfProcess() : undefined
  if (fault !== undefined)
    throw failure(request, 'INSECURE_TRANSPORT', `was not contacted: ${fault}`, { definite: true })
  const sent: FormField[] = []
  try {
    const response = make((to, init) => {
      const headers = { ...init.headers, ...more }
      const [, credentials] = headers['authorization']?.split(' ') ?? []
      sent.push(...(init.body ?? []), ...(credentials ? [['authorization', credentials] as const] : []))
      beforeRequest?.(new URL(to))
      // the `fetch` of some frameworks caches responses, and would return an old token
      return fetch(to, { ...(init as object), headers, signal, ...noStore() })
    })
    // a `fetch` that ignores the signal must not delay the calls that wait for the token
    return { ...(await abortable(response.then(read), signal)), sent }
  } catch (error) {
    if (error instanceof UnusableResponse) throw failure(request, 'TOKEN_RESPONSE_INVALID', error.message)
    if (signal.aborted) {
      const { message } = signal.reason as Error
      throw failure(request, 'TOKEN_REQUEST_TIMEOUT', `did not respond in ${message}${unusedProxy(request)}`)
    }
    throw transportFailure(request, error)
  }
}

/** Reads the whole response, up to a bound, so that a slow or endless one ends with the request. */
async function read(response: Response | undefined): Promise<Omit<IssuerResponse, 'sent'>> {
  // a mock returns anything, or one and the same each time
  if (!response?.headers?.get || response.bodyUsed)
    throw new UnusableResponse('gave `fetch` no unread Response')
  const { status, headers } = response
  const decoder = new TextDecoder()
  let body = ''
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > largest) throw new UnusableResponse('responded with more than 1 MiB')
    body += decoder.decode(chunk, { stream: true })
  }
  body += decoder.decode()
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  return {
    status,
    ok: status >= 200 && status < 300,
    body,
    ...membersIn(body),
    type: type.trim().toLowerCase(),
    // other responses may tell of a quota that is not used up yet
    retryAfter: () =>
      readAsked({ status, header: (name) => headers.get(name) }, status === 429 || status === 503),
    date: headers.get('date'),
    location: headers.get('location'),
    challenge: headers.get('www-authenticate')?.toLowerCase() ?? '',
  }
}

/** A form: some servers send one where the standard has JSON, and call it `text/plain`. */
const form = /^[\w.-]+=[^\s<>{}]*$/

/** Returns the members without those that are null, and texts without the white space around them. */
function membersIn(body: string): Pick<IssuerResponse, 'members' | 'isForm'> {
  const text = body.trim()
  const isForm = form.test(text)
  try {
    const object = isForm ? Object.fromEntries(new URLSearchParams(text)) : (JSON.parse(text) as object)
    const members: Record<string, unknown> = { __proto__: null, ...object }
    for (const [name, value] of Object.entries(members))
      members[name] = typeof value === 'string' ? value.trim() : (value ?? undefined)
    return { members, isForm }
  } catch {
    return { members: { __proto__: null }, isForm }
  }
}

/** The property of the `fetch` of Next.js that holds the `fetch` it replaced. */
const replaced = '_nextOriginalFetch'

/**
 * Returns the `fetch` of the runtime. Next.js replaces it by its own. That one caches in spite of `no-store` where
 * a route says `fetchCache = 'force-cache'`, and makes a static route that uses `no-store` dynamic.
 */
function runtimeFetch(): IssuerFetch {
  const { fetch } = globalThis as { fetch: IssuerFetch & { readonly [replaced]?: IssuerFetch } }
  return fetch?.[replaced] ?? fetch
}

/** Returns no option in a runtime that throws for it, such as a worker with an old compatibility date. */
function noStore(): object {
  const option = { cache: 'no-store' }
  try {
    void new Request('https://issuer.example', option as RequestInit)
    return option
  } catch {
    return {}
  }
}
