import { createHash, timingSafeEqual } from 'node:crypto'
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

/** What HTTP control needs to refuse requests from other web pages. */
export interface Guard {
  /** Names and addresses of the sandbox, with the port. */
  hosts: readonly string[]
  token: string
}

/**
 * Refuses requests that another web page caused: under another host name (DNS rebinding), or from another origin.
 *
 * @throws RefusedRequest 421 for a wrong `Host`, 403 for a wrong `Origin`.
 */
export function refuseStrangers(headers: Headers, { hosts }: Guard): void {
  const host = headers.get('host') ?? ''
  if (!hosts.includes(host)) {
    throw new RefusedRequest(421, `The Host header must be ${hosts.join(' or ')}`)
  }
  const origin = headers.get('origin')
  if (origin !== null && !hosts.some((each) => origin === `http://${each}`)) {
    throw new RefusedRequest(403, 'The Origin header must be the origin of HTTP control')
  }
}

/** Returns a hash. All hashes have the same length, which timingSafeEqual() requires. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Refuses requests without the token of this sandbox.
 *
 * @throws RefusedRequest 401.
 */
export function requireToken(headers: Headers, { token }: Guard): void {
  const given = /^bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
  if (timingSafeEqual(digest(given), digest(token))) return
  throw new RefusedRequest(
    401,
    'Send "Authorization: Bearer <token>" with the token that the sandbox printed at start-up',
  )
}
