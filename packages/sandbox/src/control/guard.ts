import { createHash, timingSafeEqual } from 'node:crypto'

import { RefusedRequest } from './problem-details.ts'

/** What HTTP control must know to refuse strange pages. */
export interface Guard {
  port: number
  token: string
}

/**
 * Refuses requests that a strange web page caused: under another host name (DNS rebinding), or from another origin.
 *
 * @throws RefusedRequest 421 for a wrong `Host`, 403 for a wrong `Origin`.
 */
export function refuseStrangers(headers: Headers, { port }: Guard): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]
  const host = headers.get('host') ?? ''
  if (!hosts.includes(host)) {
    throw new RefusedRequest(421, `The Host header must be ${hosts.join(' or ')}`)
  }
  const origin = headers.get('origin')
  if (origin !== null && !hosts.some((each) => origin === `http://${each}`)) {
    throw new RefusedRequest(403, 'The Origin header must be the origin of HTTP control')
  }
}

/** Of equal length for every text, as timingSafeEqual() needs it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** @throws RefusedRequest 401 without the token of this sandbox. */
export function requireToken(headers: Headers, { token }: Guard): void {
  const given = /^bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
  if (timingSafeEqual(digest(given), digest(token))) return
  throw new RefusedRequest(
    401,
    'Send "Authorization: Bearer <token>" with the token that the sandbox printed at its start',
  )
}
