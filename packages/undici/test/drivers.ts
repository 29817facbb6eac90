import { PassThrough, pipeline, Readable, type Duplex } from 'node:stream'

import type { ScenarioResponse, Driver, Limit, RequestBody, ScenarioRequest } from '@tokenlane/conformance'
import type { Dispatcher } from 'undici'

import { tokensInterceptor } from '../src/index.ts'

/** A version of undici: their types do not fit each other. */
interface AnyUndici {
  readonly Agent: unknown
  readonly FormData: unknown
  readonly interceptors: unknown
}

type Undici = typeof import('undici')

/** A way to send: with which of undici's functions. */
type Way = 'request' | 'stream' | 'pipeline'

interface Sent {
  readonly dispatcher: Dispatcher
  readonly options: Dispatcher.RequestOptions
  readonly isStream: boolean
}

/** What the drivers of all versions and ways have in common. */
export function undiciDriver(
  version: AnyUndici,
  way: Way,
  limits: Driver<Dispatcher>['limits'] = {},
): Driver<Dispatcher> {
  const undici = version as Undici
  return {
    name: `undici ${way}`,
    create: () => new undici.Agent(),
    attach: (dispatcher, tokens) => ({ client: dispatcher.compose(tokensInterceptor(tokens)) }),
    send(client, request) {
      const options = optionsOf(request, undici)
      request.show?.(options)
      return ways[way]({
        dispatcher: following(undici, showing(client, request), request),
        options,
        isStream: request.stream === true,
      })
    },
    errors: {
      // of a call that was aborted before, undici makes an error of its own
      isAbort: (error) => (error as Error).name === 'AbortError',
      isTimeout: (error) => codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT',
      isNetwork: (error) => /^(?:ECONNREFUSED|UND_ERR_SOCKET)$/.test(String(codeOf(error))),
      statusOf: (error) =>
        codeOf(error) === 'UND_ERR_REQ_RETRY' ? (error as { statusCode: number }).statusCode : undefined,
    },
    limits: {
      httpErrors: {
        reason: 'undici does not turn a status into an error.',
        instead: 'The caller gets the response with its status.',
      },
      detach: {
        reason: '`compose` makes a new dispatcher.',
        instead: 'The original dispatcher sends no token.',
      },
      tokenTimeout: {
        reason: 'undici has timeouts for attempts only.',
        instead: '`AbortSignal.timeout()` ends the wait for a token too.',
      },
      ...limitsOf[way],
      ...limits,
    },
  }
}

/** A client follows redirects and sends again as its users have it: with undici's interceptors, after ours. */
function following({ interceptors }: Undici, client: Dispatcher, { retries }: ScenarioRequest): Dispatcher {
  const redirect = interceptors.redirect({ maxRedirections: 20 })
  if (retries === undefined) return client.compose(redirect)
  const retry = interceptors.retry({ maxRetries: retries, statusCodes: [503], minTimeout: 1 })
  return client.compose(redirect, retry)
}

/** A client with an interceptor of its users', next to ours: the others copy the options. */
function showing(client: Dispatcher, { show }: ScenarioRequest): Dispatcher {
  if (show === undefined) return client
  return client.compose((dispatch) => (options, handler) => {
    show(options)
    return dispatch(options, handler)
  })
}

function optionsOf(
  { url, method, headers, body, signal, timeout, tokenlane }: ScenarioRequest,
  undici: Undici,
) {
  const { origin, pathname, search } = new URL(url)
  return {
    origin,
    path: pathname + search,
    method: method ?? 'GET',
    headers: { ...(body?.kind === 'JSON' && { 'content-type': 'application/json' }), ...headers },
    body: bodyOf(body, undici) as Readable,
    ...(signal && { signal }),
    ...(timeout !== undefined && { headersTimeout: timeout }),
    ...(tokenlane && { tokenlane }),
  } as Dispatcher.RequestOptions
}

function bodyOf(body: RequestBody | undefined, undici: Undici): unknown {
  if (body?.kind === 'FormData') return ownForm(body.value, undici)
  return body?.kind === 'JSON' ? JSON.stringify(body.value) : body?.value
}

/** undici takes its own forms, and not Node's. */
function ownForm(form: FormData, undici: Undici): unknown {
  const own = new undici.FormData()
  for (const [name, value] of form) own.append(name, value)
  return own
}

const ways: Record<Way, (sent: Sent) => Promise<ScenarioResponse>> = {
  async request({ dispatcher, options, isStream }) {
    const response = await dispatcher.request(options)
    const { statusCode: status, headers, body } = response
    return isStream
      ? { ...responseOf({ status, headers }, response), stream: body }
      : { ...responseOf({ status, headers }, response), text: await body.text() }
  },

  async stream({ dispatcher, options, isStream }) {
    const head = Promise.withResolvers<Head>()
    const body = new PassThrough()
    const done = dispatcher.stream(options, ({ statusCode: status, headers }) => {
      head.resolve({ status, headers })
      return body
    })
    done.catch(head.reject)
    const { status, headers } = await head.promise
    const answer = responseOf({ status, headers }, body)
    if (isStream) return { ...answer, stream: body }
    const text = await textOf(body)
    await done
    return { ...answer, text }
  },

  async pipeline({ dispatcher, options, isStream }) {
    const { body, ...rest } = options
    const head = Promise.withResolvers<Head>()
    const duplex = dispatcher.pipeline(rest, (data) => {
      head.resolve({ status: data.statusCode, headers: data.headers })
      return data.body
    })
    duplex.on('error', head.reject)
    const arrives = head.promise
    arrives.catch(() => {})
    feed(duplex, body)
    const { status, headers } = await arrives
    const answer = responseOf({ status, headers }, duplex)
    return isStream ? { ...answer, stream: duplex } : { ...answer, text: await textOf(duplex) }
  },
}

type Head = Pick<ScenarioResponse, 'status'> & Pick<Dispatcher.ResponseData, 'headers'>

function responseOf({ status, headers }: Head, native: unknown): ScenarioResponse {
  return { status, headers: new Headers(headers as Record<string, string>), text: '', native }
}

/** Writes what a caller of `pipeline` would write. */
function feed(duplex: Duplex, body: unknown): void {
  if (typeof (body as Partial<AsyncIterable<Uint8Array>>)?.[Symbol.asyncIterator] === 'function')
    return void pipeline(Readable.from(body as AsyncIterable<Uint8Array>), duplex, () => {})
  try {
    duplex.end(body)
  } catch (error) {
    duplex.destroy()
    throw error
  }
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}

const asAlone = 'It rejects such a body, as it does without Tokenlane.'
const notReplayed: Limit = {
  reason: '`pipeline` sends what is written into it and keeps no copy.',
  instead: 'The caller gets the 401, and the next call has a new token.',
}
const notWritten: Limit = {
  reason: '`pipeline` is a stream and accepts only bytes and text.',
  instead: asAlone,
}

const limitsOf: Record<Way, Driver<unknown>['limits'] & object> = {
  request: {
    'body: URLSearchParams': { reason: 'undici accepts text, but not URLSearchParams.', instead: asAlone },
  },
  get stream() {
    return this.request
  },
  pipeline: {
    retries: {
      reason: 'undici never retries `pipeline`.',
      instead: 'The caller gets a 503 after 1 send.',
    },
    'body: string': notReplayed,
    'body: JSON': notReplayed,
    'body: Buffer': notReplayed,
    'body: Uint8Array': notReplayed,
    'body: URLSearchParams': notWritten,
    'body: ArrayBuffer': notWritten,
    'body: Blob': notWritten,
    'body: FormData': notWritten,
  },
}
