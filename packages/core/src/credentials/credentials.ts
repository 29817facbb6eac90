import { mustBeObject, refuse, shape } from '../options/check.ts'
import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'

/** What a registered client proves itself with (RFC 6749 §2.3.1, sent as `client_secret_post`). */
export interface Credentials {
  /** Identifier of the registered application. */
  readonly clientId: string
  /** Its secret. Never printed. */
  readonly clientSecret: string
  /** When the secret was issued: gives notice in time before its 365 days are over. */
  readonly secretIssuedAt?: Date | undefined
}

/** What a credentials provider is told. */
export interface CredentialsContext {
  /**
   * `startup` before the first token, `renewal` before any later one, `rejected` when the issuer has just
   * refused what the provider gave: the moment to read the secret anew.
   */
  readonly reason: 'startup' | 'renewal' | 'rejected'
  /** Aborts when the answer comes too late to be of use. */
  readonly signal: AbortSignal
}

/**
 * Gives the credentials, or several in the order in which to try them. Asked before every token request, so
 * that a rotated secret is used without a restart. May be called again while an earlier call is pending.
 */
export interface CredentialsProvider {
  (
    context: CredentialsContext,
  ): Credentials | readonly Credentials[] | Promise<Credentials | readonly Credentials[]>
  /** Called once by `createTokenManager`: throws if it can be known now that there are no credentials. */
  check?: () => void
}

/** One client, or several in the order in which to try them (current, next), or who to ask for them. */
export type CredentialsSource = Credentials | readonly Credentials[] | CredentialsProvider

const allowed = ['clientId', 'clientSecret', 'secretIssuedAt']

/** Refuses wrong credentials at start-up; a provider is asked for them later. */
export function mustBeCredentials(value: unknown, path: string): CredentialsSource {
  if (typeof value === 'function') {
    checkProvider(value as CredentialsProvider, path)
    return value as CredentialsProvider
  }
  if (!Array.isArray(value)) return mustBeClient(value, path)
  if (value.length === 0) refuse(path, 'an empty array', 'one client or more')
  return value.map((client, index) => mustBeClient(client, `${path}[${index}]`))
}

function checkProvider(provider: CredentialsProvider, path: string): void {
  try {
    provider.check?.()
  } catch (error) {
    const reason = isTokenlaneError(error) ? reasonOf(error) : 'its check failed'
    refuse(path, `a provider without credentials (${reason})`, 'a provider that has credentials')
  }
}

function mustBeClient(value: unknown, path: string): Credentials {
  mustBeObject(value, path, allowed)
  const fault = faultOf(value)
  if (fault !== undefined) refuse(`${path}.${fault.key}`, fault.given, fault.allowed)
  const { clientId, clientSecret, secretIssuedAt } = value as unknown as Credentials
  return { clientId, clientSecret, secretIssuedAt }
}

/** What a provider gave, as a list; refused like an option, but at the time of the token request. */
export function usableCredentials(given: unknown, issuer: string): readonly Credentials[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw unavailable(issuer, 'the provider gave an empty array')
  for (const client of list) {
    if (typeof client !== 'object' || client === null)
      throw unavailable(issuer, `the provider gave ${client === undefined ? 'nothing' : shape(client)}`)
    const fault = faultOf(client as Record<string, unknown>)
    if (fault !== undefined)
      throw unavailable(issuer, `the provider gave a \`${fault.key}\` that is ${fault.given}`)
  }
  return list as readonly Credentials[]
}

export function unavailable(issuer: string, reason: string): TokenlaneError {
  return new TokenlaneError(
    'CREDENTIALS_UNAVAILABLE',
    `Cannot obtain token: no credentials for issuer "${issuer}": ${reason}`,
    { issuer },
  )
}

/** What is wrong with the credentials of one client, without quoting it. */
export function faultOf(
  client: Record<string, unknown>,
): { key: string; given: string; allowed: string } | undefined {
  for (const key of ['clientId', 'clientSecret']) {
    const value = client[key]
    if (typeof value !== 'string' || value === '')
      return { key, given: shape(value), allowed: 'text that is not empty' }
    if (value !== value.trim())
      return { key, given: 'text with white space around it', allowed: 'text without white space around it' }
  }
  const issuedAt = client['secretIssuedAt']
  if (issuedAt === undefined || (issuedAt instanceof Date && !Number.isNaN(issuedAt.getTime())))
    return undefined
  return { key: 'secretIssuedAt', given: shape(issuedAt), allowed: 'a valid Date' }
}

/** Where the credentials are kept, there are none that can be used; `reason` quotes nothing of them. */
export function unreadable(reason: string): TokenlaneError {
  return new TokenlaneError('CREDENTIALS_UNAVAILABLE', `Cannot read credentials: ${reason}`)
}
