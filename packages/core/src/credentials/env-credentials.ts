import { type CredentialsProvider, unreadable } from './credentials.ts'
import { clientsFromTexts, fieldsFor, textFault, textProvider } from './text-fields.ts'

/**
 * Reads credentials from environment variables, anew before each token request: `<PREFIX>_CLIENT_ID`,
 * `<PREFIX>_CLIENT_SECRET`, and where they are set `<PREFIX>_CLIENT_SECRET_NEXT` (tried when the first is refused) and
 * `<PREFIX>_SECRET_ISSUED_AT` (an ISO 8601 date).
 *
 * For an issuer with `private_key_jwt`: `<PREFIX>_PRIVATE_KEY`, `<PREFIX>_KEY_ID`, the same two with `_NEXT`, and
 * `<PREFIX>_ALGORITHM`. With
 * `tls_client_auth`: `<PREFIX>_CERTIFICATE`, `<PREFIX>_PRIVATE_KEY` and the same two with `_NEXT`. In PEM text `\n` may
 * stand for a line break.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` from `createTokenManager` if variables are missing, empty or hold no such
 * date then; later `CREDENTIALS_UNAVAILABLE`, which is tried again like any failed renewal. Both name all of them.
 * @example
 * ```ts
 * generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') })
 * ```
 */
export function envCredentials(prefix: string): CredentialsProvider {
  const nameOf = (field = ''): string =>
    `${prefix}_${field.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
  return textProvider(
    (form) => {
      const env = globalThis.process?.env ?? {}
      const found = clientsFromTexts((field) => textOf(env[nameOf(field)]), form)
      if ('clients' in found) return found.clients
      const lists = ['missing', 'empty'].flatMap((given) => {
        const names = found.faults.filter((fault) => fault.given === given).map(({ field }) => nameOf(field))
        const what = `${given === 'empty' ? 'Empty' : 'Missing'} environment variable${names.length > 1 ? 's' : ''}`
        return names.length === 0 ? [] : [`${what}: ${names.join(', ')}`]
      })
      const others = found.faults
        .filter(({ given }) => given !== 'missing' && given !== 'empty')
        .map((fault) => `The environment variable ${nameOf(fault.field)} ${textFault(fault)}`)
      throw unreadable([...lists, ...others].join('; '))
    },
    (method) => fieldsFor(method).map(nameOf).join(', '),
  )
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text?.startsWith('-----BEGIN') ? text.replaceAll('\\n', '\n') : text
}
