import { createPrivateKey } from 'node:crypto'
import { generate } from 'selfsigned'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { pkcs12 } from '../../test/pkcs12.ts'
import { inspectionOf } from '../adapter.ts'
import { createTokenManager, envCredentials, oauthIssuer, type IssuerOptions } from '../index.ts'

const tokenEndpoint = 'https://auth.example.com/token'
const passphrase = 'open-sesame'
let pair: { readonly cert: string; readonly key: string }
let pfx: Uint8Array
beforeAll(async () => {
  const { cert, private: key } = await generate()
  pair = { cert, key }
  pfx = pkcs12([cert, key], passphrase)
})
afterEach(() => vi.unstubAllEnvs())

const managerOf = (credentials: unknown, options?: object) =>
  createTokenManager({
    issuers: {
      partner: oauthIssuer({ tokenEndpoint, credentials } as IssuerOptions),
    },
    apis: [],
    ...options,
  })

/** What the start says of these credentials, which must not hold the passphrase or the file. */
function refused(credentials: object, options?: object): string {
  try {
    managerOf(credentials, options)
    return 'accepted'
  } catch (error) {
    const { message } = error as Error
    if (/open-|[\w+/]{41}/.test(message)) throw new Error('a secret', { cause: error })
    return message
  }
}

test('a client certificate cannot be shown by a fetch of the application, in neither form', () => {
  const why = 'tls_client_auth, which needs `node:https`, not the `fetch` option; allowed: another method'
  for (const given of [
    { certificate: pair.cert, privateKey: pair.key },
    { pfx, passphrase },
  ]) {
    expect(refused({ clientId: 'a', ...given })).toBe('accepted')
    expect(refused({ clientId: 'a', ...given }, { fetch: globalThis.fetch })).toContain(why)
  }
})

test('an encrypted key of a client certificate needs its passphrase', () => {
  const privateKey = createPrivateKey(pair.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
    .toString()
  const given = { clientId: 'a', certificate: pair.cert, privateKey }
  expect(refused({ ...given, passphrase })).toBe('accepted')
  for (const wrong of [undefined, 'open-barley'])
    expect(refused({ ...given, passphrase: wrong })).toContain(
      'its key, with `passphrase` if it is encrypted',
    )
})

test('a client certificate is refused with the key of another', async () => {
  const other = await generate()
  expect(refused({ clientId: 'a', certificate: pair.cert, privateKey: other.private })).toContain(
    '`issuers.partner.credentials.privateKey` is not usable with `certificate` (ERR_OSSL_X509_KEY_VALUES_MISMATCH); allowed: ',
  )
})

test('a PKCS#12 file is taken as its bytes, as Base64 text in any form, and without a passphrase if it has none', () => {
  const base64 = Buffer.from(pfx).toString('base64')
  const forms = [
    pfx,
    new Uint8Array(pfx),
    base64,
    `${base64.replaceAll(/.{64}/g, '$&\n')}\n`,
    base64.replaceAll(/.{64}/g, String.raw`$&\n`),
    Buffer.from(pfx).toString('base64url'),
  ]
  for (const form of forms) expect(refused({ clientId: 'a', pfx: form, passphrase })).toBe('accepted')
  const open = pkcs12([pair.cert, pair.key], '')
  for (const none of [{}, { passphrase: '' }, { passphrase: undefined }])
    expect(refused({ clientId: 'a', pfx: open, ...none })).toBe('accepted')
})

test.each<[string, () => object, string]>([
  ['nothing', () => ({ pfx: '' }), 'credentials.pfx` is empty; allowed: the bytes of a PKCS#12 file'],
  ['another type', () => ({ pfx: 7 }), 'credentials.pfx` is a number; allowed: the bytes of a PKCS#12 file'],
  ['a path', () => ({ pfx: '/run/client.pfx' }), 'credentials.pfx` is a string that is not Base64'],
  ['PEM text', () => ({ pfx: pair.cert }), 'credentials.pfx` is '],
  [
    'other bytes',
    () => ({ pfx: Buffer.from('hello') }),
    'credentials.pfx` is no PKCS#12 file that can be read (not enough data)',
  ],
  [
    'half a file',
    () => ({ pfx: pfx.subarray(0, 500), passphrase }),
    'credentials.pfx` is no PKCS#12 file that can be read',
  ],
  [
    'no passphrase',
    () => ({ pfx }),
    'credentials.pfx` is encrypted, with another `passphrase` or with one that is missing; allowed: a PKCS#12 file with its `passphrase`',
  ],
  [
    'a wrong passphrase',
    () => ({ pfx, passphrase: 'open-barley' }),
    'credentials.pfx` is encrypted, with another `passphrase`',
  ],
  [
    'a wrong passphrase of a file without a checksum',
    () => ({ pfx: pkcs12([pair.cert, pair.key], passphrase, '-nomac'), passphrase: 'open-barley' }),
    'credentials.pfx` is encrypted, with another `passphrase`',
  ],
  [
    'another name of the passphrase',
    () => ({ pfx, pfxPassword: passphrase }),
    'credentials.pfxPassword` is not an option (did you mean `passphrase`?)',
  ],
  ['a passphrase of another type', () => ({ pfx, passphrase: 7 }), 'credentials.passphrase` is a number'],
  [
    'no private key',
    () => ({ pfx: pkcs12([pair.cert], passphrase, '-nokeys'), passphrase }),
    'credentials.pfx` is a PKCS#12 file without a private key',
  ],
  [
    'no certificate',
    () => ({ pfx: pkcs12([pair.key], passphrase, '-nocerts'), passphrase }),
    'credentials.pfx` is a PKCS#12 file without a certificate',
  ],
  [
    'encryption of the nineties',
    () => ({ pfx: old, passphrase }),
    "an encryption that is too old for this runtime's OpenSSL; allowed: one made anew: `openssl pkcs12 -legacy -nodes -in old.pfx -out pem && ",
  ],
  [
    'a certificate as PEM text, too',
    () => ({ pfx, passphrase, certificate: pair.cert, privateKey: pair.key }),
    'credentials.pfx` is given with `certificate`; allowed: one of the two',
  ],
  [
    'a secret, too',
    () => ({ pfx, passphrase, clientSecret: 'secret-1' }),
    'credentials.pfx` is given with `clientSecret`; allowed: one of the two',
  ],
  ['another name', () => ({ p12: pfx }), 'credentials.p12` is not an option (did you mean `pfx`?)'],
])('a PKCS#12 file is refused at the start: %s', (_what, given, reason) => {
  expect(refused({ clientId: 'a', ...given() })).toContain(reason)
  expect(refused({ ...given() })).toMatch(
    / options are invalid:[^]*`issuers.partner.credentials.clientId` is missing/,
  )
})

test('a PKCS#12 file is read from a variable, and the next one when it is refused', async () => {
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  vi.stubEnv('SHOP_PFX', Buffer.from(pfx).toString('base64'))
  const credentials = envCredentials('SHOP')
  expect(refused(credentials)).toContain(
    'The environment variable SHOP_PFX is encrypted, with another `passphrase`',
  )
  vi.stubEnv('SHOP_PASSPHRASE', passphrase)
  vi.stubEnv('SHOP_PFX_NEXT', Buffer.from(pkcs12([pair.cert, pair.key], passphrase)).toString('base64'))
  const clients = await inspectionOf(managerOf(credentials))?.clients('partner')
  // tools look at the certificate
  expect(clients).toEqual([
    { clientId: 'client-1', certificate: pair.cert.replaceAll('\r', '').trim() + '\n' },
    { clientId: 'client-1', certificate: pair.cert.replaceAll('\r', '').trim() + '\n' },
  ])
})

// as Windows exported it: RC2 with 40 bits
const old = `
MIIDcgIBAzCCAzgGCSqGSIb3DQEHAaCCAykEggMlMIIDITCCAhcGCSqGSIb3DQEHBqCCAggwggIEAgEAMIIB/QYJKoZIhvcNAQcB
MBwGCiqGSIb3DQEMAQYwDgQIeBxAd4C6WWECAggAgIIB0OSCVj7IhhwIQ8jXKkH1uGavhvZmX4LF7PxI0Wpyxtz+bUjrxuxTSF4i
GeyrnY+XUlw6s/PpYkryBDjiyvvgyRuqs/fKhgDVvi0PfWZ7HKdsN1fskgbNhn+QTfe860+Buiiu4uYVym8sUaRxbC4nDYIRZRlc
gBI9eXLbp7Oeq4p2rw6SjBni6hnCH7Cf9v8DCdkV/xzrzKLDecvCPpdhQLPb21tvHj9qCPHbHi3991DztuB2Ib1zcHgxyRPMkbCB
d5eax3hb2X8unlFkQpu7Apr+cG9Q/hb44izwDbTce5uT1Mz5nPHWWqN1U2KkIflQ8W9p4IZwJprceJBlXz/lHEFqr75vEUBVDll1
a6be1wwVcHlaTBjxzTHXALwMtWXMZri9BfSBOfY12ZvDaVlfNL/atV8VTcSwpdvqsV3zs7d8nlzG/M9lJfPFSIl1jW1oHWzrN7tq
S0DUj+52VQ+M8KtO9Po2JSjYtqjXgSVpk3hd+PHR7ya3wrCvTv0Hw6lpCtG33IBgE5czd8lcJHKQNgbYZ1QQtVsKDQ1ANMPzQvBl
zDj+r6O48OitCy9tlZuNbTvzAxoxWRFWy5E76n89cV8ktszUjpMBcoBqWtshYlZ0MIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHr
BgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0BDAEDMA4ECManznz3Xck8AgIIAASBkFeAoMNdzxlHmfcVEBF53+tumNHH03bd
Xpa7lmmj1EqVNGC244hYRpUh4EfyrGPPoBqyjfrATIAZbBHixshdMy85i9Y56cwluvEOX6J/0ybTexOUz7T7TNOUYtThlDoeYUM7
xhbt4oaFnikTP8AtGPfW7fk7YCXafLCVFrpiq8ZsPmpiNCOGXOkSk2LHWWGSCzElMCMGCSqGSIb3DQEJFTEWBBRwegf/BNUAI2cn
j0GH63/G0NqiBTAxMCEwCQYFKw4DAhoFAAQUJj2Vq6koHCdiKEQAcuXPTs1LHm4ECHiFwsTWdjMiAgIIAA==`
