import { discardBody } from './discard-body.ts'

type IncomingMessage = import('node:http').IncomingMessage
type ClientRequest = import('node:http').ClientRequest

/** A request of `node:http` whose responses are judged before its client sees them. */
export interface JudgedRequest {
  /** Resolves when the bodies of all unwanted responses are gone. */
  readonly discarded: Promise<unknown>
  /** Returns the last unwanted response for a client that passes it on after all, without a discarded body. */
  refused(): Promise<object>
}

interface ResponseHead {
  readonly status: number
  header(name: string): string | undefined
}

/** Headers about the body, not about the response. */
const bodyFields = ['content-encoding', 'content-length', 'transfer-encoding', 'trailer']

/**
 * Shows each response to `isUnwanted` as soon as its headers are there. The client gets an unwanted one without its body, so
 * that a body that is too long, cut, badly compressed or stalled is no failure.
 */
export function judgeResponses(
  request: NodeJS.EventEmitter,
  isUnwanted: (response: ResponseHead) => boolean,
): JudgedRequest {
  let unwanted: IncomingMessage
  let discarded: Promise<readonly Uint8Array[] | undefined> = Promise.resolve(undefined)
  const emit = request.emit.bind(request)
  request.emit = (event: string, ...values: unknown[]) => {
    if (event !== 'response') return emit(event, ...values)
    const response = values[0] as IncomingMessage
    try {
      if (!isUnwanted(reportOf(response))) return emit(event, response)
    } catch (error) {
      // nobody could catch it here
      ;(request as ClientRequest).destroy(error as Error)
      return true
    }
    unwanted = response
    discarded = discardBody(response)
    return emit(event, withBody(response, undefined))
  }
  return {
    get discarded() {
      return discarded
    },
    refused: async () => withBody(unwanted, await discarded),
  }
}

/** Returns status and headers of a response of `node:http`, which has repeated headers as a list. */
function reportOf({ statusCode = 0, headers }: IncomingMessage): ResponseHead {
  return {
    status: statusCode,
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
  }
}

function withBody(response: IncomingMessage, body: readonly Uint8Array[] | undefined): object {
  const { Readable } = process.getBuiltinModule('node:stream')
  const { statusCode, statusMessage, httpVersion, rawHeaders, socket } = response
  const headers = { ...response.headers }
  if (body === undefined) for (const name of bodyFields) delete headers[name]
  const { req } = response as { readonly req?: unknown }
  const head = { statusCode, statusMessage, httpVersion, headers, rawHeaders, socket, req }
  const stream = Readable.from(body ?? [], { objectMode: false })
  return Object.assign(stream, head, { complete: true, trailers: {}, rawTrailers: [] })
}
