import { STATUS_CODES } from 'node:http'

import { WrongValueError } from '../allowed.ts'

export class RefusedRequest extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

/** Returns a response with problem details (RFC 9457). Several problems at once are listed in `errors`. */
export function problemDetails(error: unknown): Response {
  if (error instanceof WrongValueError) {
    const errors = error.problems.map((detail) => ({ detail }))
    return respond(400, error.message, { errors })
  }
  if (error instanceof RefusedRequest) return respond(error.status, error.message)
  return respond(500, 'The sandbox failed; this is a bug in the sandbox')
}

function respond(status: number, detail: string, more: object = {}): Response {
  const headers = {
    'content-type': 'application/problem+json',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  }
  return new Response(JSON.stringify({ title: STATUS_CODES[status], status, detail, ...more }), {
    status,
    headers,
  })
}
