import { isText } from '../options/check.ts'
import { readInstant } from '../time/read-instant.ts'
import { readWait } from '../time/read-wait.ts'
import type { IssuerResponse } from './protocol.ts'

/** Lifetime where the issuer names none; RFC 6749 §5.1 leaves it to the service's documentation. */
const documented = 3_600_000
/** No token outlives the secret that it was issued for. */
const longest = 365 * 86_400_000
/** In seconds. A larger number is a moment, or means no end. */
const years = 1_000_000_000

/** What servers call a lifetime, or its end: `expires_at`, `expiresIn`, `.expires`; not one in ms. */
const otherName = /^\.?expires(?!.*(?:mil|ms$))[a-z_]{0,12}$/i

interface Lifetime {
  /** In milliseconds; `undefined` for an `expires_in` that is anything but a finite time above 0. */
  readonly lifetime: number | undefined
  /** What is unusual about how the response names it. */
  readonly oddities: readonly string[]
}

/** Returns how long a token lives: by `expires_in` (RFC 6749 §5.1), else by a member that other servers have in its place. */
export function lifetimeIn({ members, date }: IssuerResponse): Lifetime {
  const read = (value: unknown): number | undefined => {
    if (typeof value === 'number' && value < years) return value * 1_000
    const isRead = isText(value) || typeof value === 'number'
    return isRead ? readWait(`${value}`, () => readInstant(date) ?? Date.now()) : undefined
  }
  const { expires_in: given, expires_in_sec: seconds } = members
  const isMissing = given === undefined || given === ''
  // Zoho has milliseconds in the other one
  if (read(seconds)) return { lifetime: read(seconds), oddities: ['an `expires_in` beside `expires_in_sec`'] }
  if (isMissing) {
    const name = Object.keys(members).find((member) => otherName.test(member) && read(members[member]))
    const used = name === undefined ? '1 h is assumed' : `\`${name}\` is used`
    return { lifetime: read(members[name ?? '']) ?? documented, oddities: [`no \`expires_in\` (${used})`] }
  }
  const wait = read(given) || (Number(given) >= years ? longest : 0)
  return {
    lifetime: wait > 0 ? Math.min(wait, longest) : undefined,
    oddities: wait > longest ? ['an `expires_in` of more than a year (in ms?)'] : [],
  }
}
