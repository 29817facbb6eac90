import { type Check, row, together } from './finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { ServerFacts } from '../facts/server.ts'
import { inWords } from './words.ts'

/** How far the clock of a server may differ from this machine's, in milliseconds. */
const tolerance = 60_000

interface Clock {
  readonly of: string
  /** How far this machine's clock is ahead of it, in milliseconds. */
  readonly offset: number
  readonly isRedis: boolean
}

/** Finds that this machine's clock is off, if all other clocks say so in the same direction: one finding for all. */
const checkOwnClock: Check = row({
  cases(facts) {
    const off = clocksIn(facts).filter(isOff)
    const [first] = off
    if (first === undefined || ownClockOffset(facts) === 0) return []
    const refused = facts.servers.filter((server) => isRefusedForClock(server, facts))
    const signs = facts.configuration.issuers.some(
      ({ clientAuthentication }) => clientAuthentication === 'private_key_jwt',
    )
    const certificates = refused.map(({ origin }) => origin).join(', ')
    return [{ offset: first.offset, others: off.map(({ of }) => of).join(', '), certificates, signs }]
  },
  subject: "this machine's clock",
  id: 'clock-off',
  severity: ({ signs, certificates }) => (signs || certificates !== '' ? 'error' : 'warning'),
  seen: ({ offset, others, certificates }) =>
    `It is ${distance(offset)} ${others}.${certificates && ` By their clocks, the certificate of ${certificates} is valid; by this one, it is not.`}`,
  why: ({ certificates }) =>
    certificates
      ? 'Certificates are judged by this clock: requests to these servers fail before anything is sent.'
      : 'Certificates are judged by this clock, and signed assertions are refused if it is off.',
  fix: "Synchronize this machine's clock (NTP). If it is right, the server's is wrong: tell its operator.",
})

const checkServerClocks: Check = row({
  cases: (facts) => (ownClockOffset(facts) === 0 ? clocksIn(facts).filter(isOff) : []),
  severity: 'warning',
  subject: ({ of }) => of,
  id: 'clock-off',
  seen: ({ offset }) =>
    `Its clock is ${distance(-offset)} this machine's; other servers' clocks disagree with it.`,
  why: ({ isRedis }) =>
    isRedis
      ? "Rate limits are counted by Redis's clock. If it is corrected in one step, up to one extra quota is sent in a window."
      : 'If it checks signed assertions against this clock, it refuses them.',
  fix: ({ isRedis }) =>
    isRedis
      ? 'Synchronize its machine (NTP), and slew a clock that is off instead of setting it.'
      : 'Tell its operator.',
})

export const checkClocks: Check = together(checkOwnClock, checkServerClocks)

/** Returns how far this machine's clock is ahead of all others, in milliseconds; 0 if they do not agree that it is off. */
export function ownClockOffset(facts: Facts): number {
  const clocks = clocksIn(facts)
  const [first] = clocks
  const agree = clocks.every((clock) => isOff(clock) && clock.offset > 0 === (first as Clock).offset > 0)
  return first !== undefined && agree ? first.offset : 0
}

/** Returns whether a certificate is refused only because this machine's clock is off. */
export function isRefusedForClock(
  { certificate, certificateFailure: code }: ServerFacts,
  facts: Facts,
): boolean {
  if (certificate === undefined || (code !== 'CERT_HAS_EXPIRED' && code !== 'CERT_NOT_YET_VALID'))
    return false
  const right = new Date(facts.now.getTime() - ownClockOffset(facts))
  return certificate.from <= right && right < certificate.until
}

function clocksIn({ servers, shared }: Facts): Clock[] {
  const redis = new Map(shared.flatMap(({ part, server }) => (server ? [[server.id || part, server]] : [])))
  return [
    ...servers.flatMap(({ origin: of, clockOffset: offset }) =>
      offset === undefined ? [] : [{ of, offset, isRedis: false }],
    ),
    ...Array.from(redis.values(), ({ name: of, clockOffset: offset }) => ({ of, offset, isRedis: true })),
  ]
}

function isOff({ offset }: Clock): boolean {
  return Math.abs(offset) > tolerance
}

function distance(offset: number): string {
  return `${inWords(Math.abs(offset))} ${offset > 0 ? 'ahead of' : 'behind'}`
}
