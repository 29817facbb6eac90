import { createHash, timingSafeEqual } from 'node:crypto'

import { RefusedRequest } from './problem-details.ts'

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
