import { conformance, type Driver } from '@tokenlane/conformance'
import type { NeedleHttpVerbs, NeedleResponse } from 'needle'
import { withTokens } from './needle-adapter.ts'
import { buffered, streamed, type Needle, type StreamedResponse } from './needle.ts'

/** needle in both of its forms. */
interface Client {
  readonly buffered: Needle<NeedleResponse>
  readonly streamed: Needle<StreamedResponse>
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code

const driver: Driver<Client> = {
  name: 'needle',
  create: () => ({ buffered, streamed }),
  attach: (client, tokens) => ({
    client: {
      buffered: withTokens(client.buffered, tokens),
      streamed: withTokens(client.streamed, tokens),
    },
  }),
  async send(client, { url, method = 'GET', headers, body, signal, timeout, stream, tokenlane, show }) {
    const verb = method.toLowerCase() as NeedleHttpVerbs
    const data = (body?.value ?? null) as object | null
    const options = {
      follow_max: 20,
      parse_response: false,
      json: body?.kind === 'JSON',
      ...(headers && { headers }),
      ...(signal && { signal }),
      ...(timeout !== undefined && { response_timeout: timeout }),
      ...(tokenlane && { tokenlane }),
    }
    show?.(options)
    const response = await client[stream === true ? 'streamed' : 'buffered'](verb, url, data, options)
    return {
      status: response.statusCode ?? 0,
      headers: new Headers(response.headers as Record<string, string>),
      ...('stream' in response
        ? { text: '', stream: response.stream as AsyncIterable<Uint8Array> }
        : { text: String(response.body) }),
      native: response,
    }
  },
  errors: {
    isAbort: (error) => (error as Error).name === 'AbortError',
    isTimeout: (error) => codeOf(error) === 'ECONNRESET',
    isNetwork: (error) => String(codeOf(error)).startsWith('ECONN'),
    statusOf: () => undefined,
  },
  limits: {
    retries: { reason: 'needle has none.', instead: "A 503 is the caller's after 1 send." },
    httpErrors: {
      reason: 'needle makes no error of a status.',
      instead: 'The caller gets the response with its status.',
    },
    tokenTimeout: {
      reason: 'needle has timeouts for attempts only.',
      instead: 'The signal of the caller ends the wait.',
    },
    detach: {
      reason: '`withTokens` makes a new function.',
      instead: 'The function that it was made of sends no token.',
    },
    statusFirst: {
      reason: 'needle shows the status of a response after its body.',
      instead: 'A body that cannot be read is an error of needle, as without Tokenlane.',
    },
    'body: Node stream': {
      reason: 'The adapter does not look at a stream while its call waits.',
      instead: 'A stream that fails before its call is sent is an error of its own.',
    },
    'body: URLSearchParams': {
      reason: 'needle takes it for an object without fields.',
      instead: 'It sends an empty body, as it does alone.',
    },
    'body: Uint8Array': {
      reason: 'needle takes it for an object.',
      instead: 'It sends the bytes as fields of a form, as it does alone.',
    },
    'body: ArrayBuffer': {
      reason: 'needle takes it for an object without fields.',
      instead: 'It sends an empty body, as it does alone.',
    },
    'body: Blob': {
      reason: 'needle takes it for an object without fields.',
      instead: 'It sends an empty body, as it does alone.',
    },
    'body: FormData': {
      reason: 'needle takes it for an object without fields.',
      instead: 'It sends an empty body, as it does alone.',
    },
    'body: web stream': {
      reason: 'needle takes it for an object without fields.',
      instead: 'It sends an empty body, as it does alone.',
    },
    'body: async generator': {
      reason: 'needle takes it for an object without fields.',
      instead: 'It sends an empty body, as it does alone.',
    },
  },
}

conformance(driver)
