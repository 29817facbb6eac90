import { printable } from '../foreign-text.ts'
import { has, shape } from '../options/check.ts'
import { type CredentialsProvider, unreadable } from './credentials.ts'
import { clientsFromTexts, neededFields, textFault, textProvider } from './text-fields.ts'

/**
 * Reads credentials from environment variables before each token request: `<PREFIX>_CLIENT_ID`,
 * `<PREFIX>_CLIENT_SECRET`, and if set, `<PREFIX>_CLIENT_SECRET_NEXT` (tried when the first is refused) and
 * `<PREFIX>_SECRET_ISSUED_AT` (an ISO 8601 date).
 *
 * An `oauthIssuer` also accepts a key (`<PREFIX>_PRIVATE_KEY`, `<PREFIX>_KEY_ID`, the same two with `_NEXT`, and
 * `<PREFIX>_ALGORITHM`), a certificate (`<PREFIX>_CERTIFICATE`, `<PREFIX>_PRIVATE_KEY` and the same two with `_NEXT`;
 * or `<PREFIX>_PFX`, a PKCS#12 file in Base64, also with `_NEXT`; and `<PREFIX>_PASSPHRASE`), and a file with an
 * assertion, read as `fileAssertion` reads it (`<PREFIX>_ASSERTION_FILE`, `<PREFIX>_ASSERTION_TYPE`).
 * Several are tried in this order: secret, certificate, key, assertion. In PEM text, `\n` may stand for a line break.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` from `createTokenManager` if variables are missing or empty at start-up, or
 * hold an invalid date; later `CREDENTIALS_UNAVAILABLE`, which is retried like any failed renewal. Both name every such
 * variable.
 * @example
 * ```ts
 * generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') })
 * ```
 */
export function envCredentials(prefix: string): CredentialsProvider {
  const nameOf = (field: string): string =>
    `${prefix}_${field.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
  const read = (field: string): string | undefined => {
    try {
      return globalThis.process?.env[nameOf(field)]?.trim()
    } catch (error) {
      // Deno asks for a permission
      throw unreadable(
        `The environment variable ${nameOf(field)} cannot be read: ${printable((error as Error).message)}`,
      )
    }
  }
  return textProvider(
    (kinds) => {
      if (!prefix) throw unreadable(`the prefix of \`envCredentials\` is ${shape(prefix)}`)
      const found = clientsFromTexts(read, kinds)
      if (has(found, 'clients')) return found.clients
      const missing = found.faults
        .filter(({ given }) => given === 'missing')
        .map(({ field }) => nameOf(field))
      const list = `Missing environment variable${missing.length > 1 ? 's' : ''}: ${missing.join(', ')}`
      const others = found.faults
        .filter(({ given }) => given !== 'missing')
        .map((fault) => `The environment variable ${nameOf(fault.field)} ${textFault(fault)}`)
      throw unreadable([...(missing.length > 0 ? [list + meantPrefix(prefix)] : []), ...others].join('; '))
    },
    (kinds) => neededFields(read, kinds).map(nameOf).join(', '),
  )
}

/** Returns a hint at the prefix that was meant, if variables with it are set: it has no `_` at its end, and capitals. */
function meantPrefix(prefix: string): string {
  const meant = prefix.replace(/(?:_CLIENT_(?:ID|SECRET))?_*$/i, '').toUpperCase()
  const isSet = meant !== prefix && globalThis.process?.env[`${meant}_CLIENT_ID`] !== undefined
  return isSet ? ` (did you mean \`envCredentials('${printable(meant)}')\`?)` : ''
}
