import {
  type ClientAuthenticationMethod,
  type Credentials,
  type CredentialsProvider,
  unreadable,
} from './credentials.ts'
import { clientsFromTexts, fieldsFor, textFault } from './text-fields.ts'

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
  const read = (method: ClientAuthenticationMethod = 'client_secret_post'): readonly Credentials[] => {
    const env = globalThis.process?.env ?? {}
    const found = clientsFromTexts((field) => textOf(env[nameOf(field)]), method)
    if ('clients' in found) return found.clients as readonly Credentials[]
    const named = (given: string): string[] =>
      found.faults.filter((fault) => fault.given === given).map(({ field }) => nameOf(field))
    const others = found.faults.filter(({ given }) => given !== 'missing' && given !== 'empty')
    const faults = [
      ...listOf('Missing', named('missing')),
      ...listOf('Empty', named('empty')),
      ...others.map((fault) => `The environment variable ${nameOf(fault.field)} ${textFault(fault)}`),
    ]
    throw unreadable(faults.join('; '))
  }
  const provide: CredentialsProvider = ({ clientAuthentication }) => read(clientAuthentication)
  return Object.assign(provide, {
    check: (method: ClientAuthenticationMethod) => void read(method),
    readsFrom: (method: ClientAuthenticationMethod) => fieldsFor(method).map(nameOf).join(', '),
  })
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text?.startsWith('-----BEGIN') ? text.replaceAll('\\n', '\n') : text
}

function listOf(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  return [`${what} environment variable${names.length > 1 ? 's' : ''}: ${names.join(', ')}`]
}
