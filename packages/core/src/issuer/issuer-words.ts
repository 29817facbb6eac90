import { fromBase64url } from '../credentials/bytes.ts'
import { aboutRequest } from '../credentials/refused-client.ts'
import { printable } from '../foreign-text.ts'
import { isText } from '../options/check.ts'
import type { IssuerResponse } from './protocol.ts'

/** Fields of the form whose values the protocol fixes: an issuer may repeat them. */
const fixed = new Set(['grant_type', 'client_assertion_type'])
/** The fields that a token request proves its client by. */
const proving = new Set(['client_secret', 'client_assertion', 'authorization'])
/** How much of a secret is compared with a server's words, in characters. */
const longestCompared = 8_192
/** A part of a secret of this length gives it away. */
const tellingPart = 8

/**
 * Returns how the issuer describes an error (RFC 6749 §5.2, RFC 9457 §3.1, or in a way of its own), to go on after a comma:
 * on one line, cut, with the names of fields in place of what was sent. Empty where there is none, and where it repeats a
 * part of a secret.
 *
 * @param named the `error`, if it is shown already.
 */
export function descriptionIn(
  { members, sent }: IssuerResponse,
  secrets: readonly string[],
  named?: unknown,
): string {
  const { error } = members
  const texts = textsIn(members).filter(([, text]) => text !== error)
  const [, words] = describing.flatMap((name) => texts.filter((text) => name.test(text[0])))[0] ?? []
  const text = [error === named ? '' : error, words].filter(isText).join(': ')
  const shown = printable(withoutFields(text, sent))
  const isTold = jwt.test(shown) || quotesAny(shown, [...secrets, ...proofsIn(sent)])
  return shown === '' || isTold ? '' : `, "${shown}"`
}

const jwt = /\beyJ[\w-]{8}/

/** What members that describe an error are called, the more telling ones first. */
const describing = [
  /description/i,
  /detail/i,
  /title/i,
  /message|summary|faultstring|msg/i,
  /reason/i,
  /^error$/i,
]
const deepest = 4

/** Returns every text in an object, also in objects within it: its name, the text, and its path. */
export function textsIn(
  value: unknown,
  above: readonly string[] = [],
): readonly (readonly [name: string, text: string, path: string])[] {
  if (above.length >= deepest || typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = [...above, name]
    return isText(inner) ? [[name, inner, path.join('.')] as const] : textsIn(inner, path)
  })
}

/** Returns the client's secrets, which no message may repeat. */
export function proofsIn(sent: IssuerResponse['sent']): readonly string[] {
  return sent.flatMap(([name, value]) => (proving.has(name) ? [value] : []))
}

/** Returns text with the names of the fields that were sent in place of their values. */
function withoutFields(text: string, sent: IssuerResponse['sent']): string {
  const names = new Map<string, string>()
  for (const [name, value] of sent)
    if (!fixed.has(name)) for (const [part] of value.matchAll(/\S+/g)) names.set(part, name)
  const values = [...names.keys()].toSorted((a, b) => b.length - a.length)
  return values.length === 0 ? text : text.replaceAll(wordsOf(values), (value) => `[${names.get(value)}]`)
}

/** Finds values where they are no part of a longer word. */
function wordsOf(values: readonly string[]): RegExp {
  const escaped = values.map((value) => value.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`))
  return new RegExp(`(?<!\\w)(?:${escaped.join('|')})(?!\\w)`, 'g')
}

/** The errors of RFC 6749 §5.2 and RFC 8707 §2: never a secret, whatever the secret is. */
export const knownErrors: ReadonlySet<unknown> = new Set([
  ...aboutRequest,
  'invalid_client',
  'unauthorized_client',
])

/** Returns the `error` of the issuer if it may be printed: RFC 6749 §5.2 allows few characters, and an issuer may send any. */
export function errorCode(error: string, secrets: readonly string[]): string {
  return knownErrors.has(error) || isWord(error, secrets) ? error : 'an unusual error code'
}

/** Whether text may be printed: an error of the application's own `fetch` may hold a secret in any field. */
export function isWord(text: unknown, secrets: readonly string[]): text is string {
  return typeof text === 'string' && /^[\w.:/-]{1,64}$/.test(text) && !quotesAny(text, secrets)
}

/** Whether text holds one of the secrets, or a telling part of one, in whatever form a server may have sent it back. */
export function quotesAny(text: string, secrets: readonly string[]): boolean {
  const readings = readingsOf(text).map((reading) => reading.toLowerCase())
  return secrets.some((given) => {
    const secret = given.slice(0, longestCompared).toLowerCase()
    return readings.some((reading) => quotes(reading, secret))
  })
}

function quotes(text: string, secret: string): boolean {
  // a short one, as in tests, is part of many words, and a letter tells nothing
  if (secret.length < tellingPart) return secret.length > 1 && wordsOf([secret]).test(text)
  for (let start = 0; start + tellingPart <= text.length; start += 1)
    if (secret.includes(text.slice(start, start + tellingPart))) return true
  return false
}

/** Undo the ways in which servers encode text: none, HTML, URL, form, JSON, hexadecimal, base64. */
const decoders: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, character),
  (text) => text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) => fromHex(run.replaceAll('%', ''))),
  (text) => text.replaceAll('+', ' '),
  (text) => text.replaceAll(/\\(?:u([\da-f]{4})|(.))/gi, (_, code, as) => as ?? character(_, code)),
  (text) => text.replaceAll(/(?:[\da-f]{2}){6,}/gi, fromHex),
  // wherever it begins, since what stands before it changes how bytes are cut
  (text) => text.replaceAll(/[\w+/-]{8,}/g, (run) => [0, 1, 2, 3].map((at) => fromBase64(run, at)).join(' ')),
]
/** How many encodings upon each other are undone. */
const mostRounds = 3

function readingsOf(given: string): readonly string[] {
  let readings = new Set([given])
  for (let round = 0; round < mostRounds; round += 1)
    readings = new Set(Array.from(readings).flatMap((text) => decoders.map((decode) => decode(text))))
  return [...readings]
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function character(_: string, hex?: string, decimal = '', name = ''): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return named[name.toLowerCase()] ?? String.fromCodePoint(code % 0x11_00_00)
}

function fromHex(digits: string): string {
  const bytes = digits.match(/../g) ?? []
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)))
}

function fromBase64(run: string, start: number): string {
  const whole = run.slice(start)
  return new TextDecoder().decode(fromBase64url(whole.slice(0, whole.length - (whole.length % 4))))
}
