import { STATUS_CODES, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'

/** A whole HTTP response, decided before any of it is sent. */
export interface Answer {
  status: number
  headers?: OutgoingHttpHeaders
  body?: string
}

export function json(value: unknown): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

/** Returns a response with problem details (RFC 9457). */
export function problem(
  status: number,
  detail: string,
  headers: OutgoingHttpHeaders = {},
  more: object = {},
): Answer {
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify({ title: STATUS_CODES[status] ?? 'Unknown', status, detail, ...more }),
  }
}

/** Returns the refusal of a bearer token (RFC 6750 §3). */
export function invalidToken(detail: string): Answer {
  return problem(401, detail, { 'www-authenticate': 'Bearer error="invalid_token"' })
}

/** Sends a whole response. Its headers can be read from the response afterwards, which `writeHead()` does not allow. */
export function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value)
  if (body === undefined) {
    response.end()
    return
  }
  response.setHeader('content-length', Buffer.byteLength(body)).end(body)
}

export function cutInBody(response: ServerResponse): void {
  const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse
  response.end = ((chunk?: unknown) => {
    const body = Buffer.from(typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk : '')
    const half = body.subarray(0, Math.floor(body.length / 2))
    if (!response.headersSent) response.setHeader('content-length', body.length)
    if (half.length === 0) {
      end()
      return response
    }
    response.write(half, () => response.socket?.destroy())
    return response
  }) as typeof response.end
}
