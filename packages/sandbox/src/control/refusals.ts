import { HTTPException } from 'hono/http-exception'
import { timingSafeEqual } from 'hono/utils/buffer'

import { WrongValueError } from '../allowed.ts'
import { problem } from '../server/answer.ts'

/** Returns a response with problem details (RFC 9457). Several problems at once are listed in `errors`. */
export function problemDetails(error: unknown): Response {
  if (error instanceof WrongValueError)
    return responseOf(400, error.message, { errors: error.problems.map((detail) => ({ detail })) })
  return error instanceof HTTPException
    ? responseOf(error.status, error.message)
    : responseOf(500, 'The sandbox failed; this is a bug in the sandbox')
}

function responseOf(status: number, detail: string, more: object = {}): Response {
  const { headers, body = null } = problem(
    status,
    detail,
    status === 401 ? { 'www-authenticate': 'Bearer' } : {},
    more,
  )
  return new Response(body, { status, headers: headers as Record<string, string> })
}

export interface Guard {
  /** Names and addresses of the sandbox, with the port. */
  hosts: readonly string[]
  token: string
}

/**
 * Refuses requests that another web page caused: under another host name (DNS rebinding), or from another origin.
 *
 * @throws HTTPException 421 for a wrong `Host`, 403 for a wrong `Origin`.
 */
export function refuseStrangers(headers: Headers, { hosts }: Guard): void {
  const host = headers.get('host') ?? ''
  if (!hosts.includes(host)) {
    throw new HTTPException(421, { message: `The Host header must be ${hosts.join(' or ')}` })
  }
  const origin = headers.get('origin')
  if (origin !== null && !hosts.some((each) => origin === `http://${each}`)) {
    throw new HTTPException(403, { message: 'The Origin header must be the origin of HTTP control' })
  }
}

/**
 * Refuses requests without the token of this sandbox.
 *
 * @throws HTTPException 401.
 */
export async function requireToken(headers: Headers, { token }: Guard): Promise<void> {
  const given = /^bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
  if (await timingSafeEqual(given, token)) return
  const message = 'Send "Authorization: Bearer <token>" with the token that the sandbox printed at start-up'
  throw new HTTPException(401, { message })
}
