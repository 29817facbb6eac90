import { bytesOf } from '../credentials/bytes.ts'
import { aboutRequest } from '../credentials/refused-client.ts'
import { isText, printable } from '../foreign-text.ts'
import type { IssuerResponse } from './protocol.ts'

/** Fields of the form whose values the protocol fixes: an issuer may repeat them. */
const fixed = new Set(['grant_type', 'client_assertion_type'])
/** The fields that a token request proves its client by. */
const proving = new Set(['client_secret', 'client_assertion', 'authorization'])
/** How much of a secret, such as a key or an assertion, is compared with what a server says. */
const longestCompared = 8_192
/** A part of a secret of this many characters is one too many. */
const tellingPart = 8

/**
 * Returns how the issuer describes an error (RFC 6749 §5.2, RFC 9457 §3.1), to go on after a comma: on one line, cut, with
 * the names of fields in place of what was sent. Empty where there is none, and where it repeats a part of a secret.
 *
 * @param named the `error`, if it is shown already.
 */
export function descriptionIn(
  { members, sent }: IssuerResponse,
  secrets: readonly string[],
  named?: string,
): string {
  const { error, error_description: description, detail, title, message } = members
  const words = [description, detail, title, message].find(isText)
  const text = [error === named ? '' : error, words].filter(isText).join(': ')
  const shown = printable(withoutFields(text, sent))
  return shown === '' || quotesAny(shown, [...secrets, ...proofsIn(sent)]) ? '' : `, "${shown}"`
}

/** Returns what the client proved itself by, which no message may repeat. */
export function proofsIn(sent: IssuerResponse['sent']): readonly string[] {
  return sent.flatMap(([name, value]) => (proving.has(name) ? [value] : []))
}

/** Returns text with the names of the fields that were sent in place of their values. */
function withoutFields(text: string, sent: IssuerResponse['sent']): string {
  const names = new Map<string, string>()
  for (const [name, value] of sent)
    if (!fixed.has(name)) for (const [part] of value.matchAll(/\S+/g)) names.set(part, name)
  const values = [...names.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((value) => value.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`))
  if (values.length === 0) return text
  const whole = new RegExp(`(?<!\\w)(?:${values.join('|')})(?!\\w)`, 'g')
  return text.replaceAll(whole, (value) => `[${names.get(value)}]`)
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

/** Whether text holds one of the secrets, or a telling part of one. */
export function quotesAny(text: string, secrets: readonly string[]): boolean {
  return secrets.flatMap(formsOf).some((secret) => {
    const last = Math.max(0, secret.length - tellingPart)
    for (let start = 0; start <= last; start += 1)
      if (text.includes(secret.slice(start, start + tellingPart))) return true
    return false
  })
}

const escapes: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]

/** Returns a secret in every form in which a server may send it back: as it is, in a form, a URL, HTML, JSON, base64. */
function formsOf(given: string): readonly string[] {
  // no message is as long
  const secret = given.slice(0, longestCompared)
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1)
  const html = escapes.reduce((text, [from, to]) => text.replaceAll(from, to), secret)
  const binary = Array.from(bytesOf(secret), (byte) => String.fromCharCode(byte)).join('')
  // wherever it stands among other bytes, such as after the client id, without what they change at both ends
  const inBase64 = ['', ' ', '  '].map((before) =>
    btoa(before + binary)
      .replace(/=+$/, '')
      .slice(before.length === 0 ? 0 : 4, -1),
  )
  return [
    secret,
    inForm,
    inForm.replaceAll('+', '%20'),
    html,
    html.replaceAll("'", '&#39;'),
    html.replaceAll("'", '&#x27;'),
    JSON.stringify(secret).slice(1, -1),
    ...inBase64.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]),
  ].filter((form) => form === secret || form.length >= 4)
}
