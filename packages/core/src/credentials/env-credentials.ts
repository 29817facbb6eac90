import { type Credentials, type CredentialsProvider, unreadable } from './credentials.ts'
import { parseIsoDate } from './iso-date.ts'

/**
 * Credentials from environment variables, read anew before each token request:
 * `<PREFIX>_CLIENT_ID`, `<PREFIX>_CLIENT_SECRET`, and where there are any `<PREFIX>_CLIENT_SECRET_NEXT` (tried
 * when the first is refused) and `<PREFIX>_SECRET_ISSUED_AT` (an ISO 8601 date).
 *
 * @throws TokenlaneError `INVALID_OPTIONS` from `createTokenManager` if a variable is missing, empty or no such date
 * then; later `CREDENTIALS_UNAVAILABLE`, which is tried again like any failed renewal. Both name the variable.
 * @example
 * ```ts
 * generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') })
 * ```
 */
export function envCredentials(prefix: string): CredentialsProvider {
  const read = (): Credentials[] => {
    const env = globalThis.process?.env ?? {}
    const need = (name: string): string => {
      const value = env[name]?.trim()
      if (!value)
        throw unreadable(
          `the environment variable ${name} is ${env[name] === undefined ? 'missing' : 'empty'}`,
        )
      return value
    }
    const clientId = need(`${prefix}_CLIENT_ID`)
    const current = {
      clientId,
      clientSecret: need(`${prefix}_CLIENT_SECRET`),
      secretIssuedAt: dateFrom(env, `${prefix}_SECRET_ISSUED_AT`),
    }
    const next = env[`${prefix}_CLIENT_SECRET_NEXT`]?.trim()
    return next ? [current, { clientId, clientSecret: next }] : [current]
  }
  return Object.assign(() => read(), { check: () => void read() })
}

function dateFrom(env: Readonly<Record<string, string | undefined>>, name: string): Date | undefined {
  const text = env[name]?.trim()
  if (!text) return undefined
  const date = parseIsoDate(text)
  if (date === undefined)
    throw unreadable(`the environment variable ${name} is no ISO 8601 date, such as 2026-11-21`)
  return date
}
