import { expect, test } from 'vitest'
import { quotesAny } from './issuer-words.ts'

const secret = 'Zk9~x+Q/w&8 "<v>$Lm2pR=%ü'
const form = new URLSearchParams({ client_id: 'orders', client_secret: secret }).toString()
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const inUnicode = (text: string): string =>
  text.replaceAll(/\W/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

test.each<[string, string]>([
  ['as it is', secret],
  ['in upper case', secret.toUpperCase()],
  ['the first characters of it', secret.slice(0, 8)],
  ['the last characters of it', secret.slice(-8)],
  ['in a form', form],
  ['in a URL', encodeURIComponent(secret)],
  ['in a URL, twice', encodeURIComponent(encodeURIComponent(secret))],
  ['in HTML', secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
  ['in HTML, by numbers', secret.replaceAll(/\W/g, (one) => `&#${one.charCodeAt(0)};`)],
  [
    'in HTML, by hexadecimal numbers',
    secret.replaceAll(/\W/g, (one) => `&#x${one.charCodeAt(0).toString(16)};`),
  ],
  ['in JSON', JSON.stringify({ secret })],
  ['in JSON in JSON', JSON.stringify(JSON.stringify({ secret }))],
  ['in JSON, escaped', inUnicode(secret)],
  ['in base64', base64(secret)],
  ['in base64, after its id', base64(`orders:${secret}`)],
  ['in base64, after its id, without the first characters', base64(`orders:${secret}`).slice(5)],
  ['in base64url', Buffer.from(secret).toString('base64url')],
  ['the form in base64', base64(form)],
  ['in base64 in base64', base64(base64(secret))],
  ['in base64 in a URL', encodeURIComponent(base64(secret))],
  ['in hexadecimal', Buffer.from(secret).toString('hex')],
])('a text quotes a secret %s', (_how, quote) => {
  expect(quotesAny(`no client for ${quote} here`, ['another-secret', secret])).toBe(true)
  expect(quotesAny(`no client for ${quote} here`, ['another-secret'])).toBe(false)
})

test('a short secret counts as a whole', () => {
  expect(quotesAny('secret: abc', ['abc'])).toBe(true)
  expect(quotesAny('secret: ab', ['abc'])).toBe(false)
})

test.each([
  ['b', 'ERR_SSL_WRONG_VERSION_NUMBER'],
  ['b', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['secret', 'Invalid client [client_secret]'],
  ['id', 'the client is not valid'],
])('a short secret, such as %j, hides no word that holds it: %j', (short, words) => {
  expect(quotesAny(words, [short])).toBe(false)
})

test('however long secret and text are, they are compared soon', () => {
  const text = '%25'.repeat(100) + '&amp;'.repeat(100) + 'QUJD'.repeat(100)
  expect(quotesAny(text, ['x'.repeat(100_000), 'y'.repeat(8_000)])).toBe(false)
})
