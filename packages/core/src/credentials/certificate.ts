import { isText, shape } from '../options/check.ts'
import { type TlsIdentity, tlsFault } from '../tls/client-certificate.ts'
import { base64url, fromBase64url } from './bytes.ts'
import { type Check, type CredentialsKind, date, text } from './client.ts'
import type { CertificateCredentials, PfxCredentials } from './credentials.ts'
import { pemFault, withLineBreaks } from './pem.ts'

type Values = Readonly<Record<string, unknown>>

/** OpenSSL writes an empty passphrase if none is asked for. */
const ofFile: Check = (value, fields) => (value === '' ? undefined : text(value, fields))
const optional = { passphrase: ofFile, secretIssuedAt: date }

export const certificateKind: CredentialsKind = {
  method: 'tls_client_auth',
  proof: 'certificate',
  needed: {
    certificate: (value) => pemFault(value, 'CERTIFICATE'),
    privateKey: (value, fields) => pemFault(value, '(?:[A-Z]+ )?PRIVATE KEY') ?? pairFault(fields),
  },
  optional,
  clientOf: pairIn,
}

export const pfxKind: CredentialsKind = {
  method: 'tls_client_auth',
  proof: 'certificate',
  needed: { pfx: pfxFault },
  optional,
  // text, like every other field: it tells clients apart
  clientOf: ({ pfx, ...others }) => ({
    ...others,
    pfx: isText(pfx) ? withLineBreaks(pfx) : base64url(pfx as Uint8Array<ArrayBuffer>),
  }),
}

export function tlsIdentityOf(client: CertificateCredentials | PfxCredentials): TlsIdentity {
  const { passphrase } = client
  if ('pfx' in client) return { pfx: fromBase64url(client.pfx as string), passphrase }
  return { cert: client.certificate, key: client.privateKey, passphrase }
}

function pairIn({ certificate, privateKey, ...others }: Values) {
  return { ...others, certificate: withLineBreaks(certificate), privateKey: withLineBreaks(privateKey) }
}

function pairFault(fields: Values): ReturnType<Check> {
  if (pemFault(fields['certificate'], 'CERTIFICATE') !== undefined) return undefined
  const { certificate: cert, privateKey: key } = pairIn(fields)
  const fault = tlsFault({ cert, key, passphrase: fields['passphrase'] })
  if (fault === undefined) return undefined
  return {
    given: `not usable with \`certificate\` (${fault})`,
    allowed: 'its key, with `passphrase` if it is encrypted',
  }
}

const file = 'the bytes of a PKCS#12 file, such as `readFileSync(path)`, or their Base64 text'
const whole = 'one with the certificate and its key'
const renewed =
  'one made anew: `openssl pkcs12 -legacy -nodes -in old.pfx -out pem && openssl pkcs12 -export -in pem -out new.pfx`'

const encrypted = [
  'encrypted, with another `passphrase` or with one that is missing',
  'a PKCS#12 file with its `passphrase`',
] as const

/** What Node and OpenSSL say about a PKCS#12 file, what it means, and what is allowed. */
const pfxFaults: readonly (readonly [RegExp, given: string, allowed: string])[] = [
  [/mac verify|bad decrypt/i, ...encrypted],
  [/private key/i, 'a PKCS#12 file without a private key', whole],
  [/certificate/i, 'a PKCS#12 file without a certificate', whole],
  [/unsupported/i, "a PKCS#12 file with an encryption that is too old for this runtime's OpenSSL", renewed],
]

/** In DER: one sequence with a length of two bytes, to its end, and in it version 3. What follows may be encrypted. */
function isWholePkcs12(bytes: Uint8Array): boolean {
  const [sequence, form, high = 0, low = 0, ...version] = bytes.subarray(0, 7)
  const isWhole = sequence === 0x30 && form === 0x82 && bytes.length === 4 + high * 256 + low
  return isWhole && version.join(' ') === '2 1 3'
}

function pfxFault(value: unknown, { passphrase }: Values): ReturnType<Check> {
  const isBytes = value instanceof Uint8Array
  if (!isText(value) && !isBytes) return { given: shape(value), allowed: file }
  let pfx: Uint8Array
  try {
    pfx = isBytes ? value : fromBase64url(withLineBreaks(value) as string)
  } catch {
    return { given: 'a string that is not Base64', allowed: file }
  }
  // a wrong type has an error of its own
  if (passphrase !== undefined && typeof passphrase !== 'string') return undefined
  const said = tlsFault({ pfx, passphrase })
  if (said === undefined) return undefined
  const unreadable = [said, `no PKCS#12 file that can be read (${said})`, file] as const
  const undecrypted = isWholePkcs12(pfx) && ([said, ...encrypted] as const)
  const [, given, allowed] = pfxFaults.find(([words]) => words.test(said)) || undecrypted || unreadable
  return { given, allowed }
}
