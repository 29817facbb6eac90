import { isTokenlaneError, reasonOf } from '../errors.ts'
import { abortable } from '../time/abortable.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type CredentialsContext,
  type CredentialsProvider,
  unavailable,
} from './credentials.ts'
import { readCredentials } from './read-credentials.ts'

/** For which issuer credentials are asked for, and how its clients prove themselves. */
interface AskedFor {
  readonly issuer: string
  readonly method: ClientAuthenticationMethod
}

/**
 * Returns the clients that a provider gives, in its order.
 *
 * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`, which quotes nothing of what the provider returned or threw.
 */
export async function askProvider(
  provider: CredentialsProvider<ClientCredentials>,
  { issuer, method }: AskedFor,
  reason: CredentialsContext['reason'],
  signal: AbortSignal,
): Promise<readonly ClientCredentials[]> {
  let given: unknown
  try {
    const context = { reason, signal, clientAuthentication: method }
    given = await abortable(Promise.resolve(provider(context)), signal)
  } catch (error) {
    throw unavailable(issuer, signal.aborted ? 'the provider did not respond in time' : why(error))
  }
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0)
    throw unavailable(issuer, 'the provider returned an empty array; allowed: one client or more')
  return list.map((client) => {
    const read = readCredentials(client, method)
    if ('credentials' in read) return read.credentials
    const { key, given: found, allowed } = read.fault
    const whole = client === undefined ? 'nothing' : found
    const what = key === undefined ? whole : `a \`${key}\` that is ${found}`
    throw unavailable(issuer, `the provider returned ${what}; allowed: ${allowed}`)
  })
}

/** Codes as systems and libraries write them: ENOENT, ERR_ACCESS_DENIED, SecretNotFound. A secret looks otherwise. */
const codeForm = /^(?:E[A-Z]{2,14}|[A-Z]{2,16}(?:_[A-Z]{2,16})+|(?:[A-Z][a-z]{2,15}){2,6})$/

/** Providers read files and vaults, whose errors may quote what they read: only a code is passed on. */
function why(error: unknown): string {
  if (isTokenlaneError(error) && error.code === 'CREDENTIALS_UNAVAILABLE') return reasonOf(error)
  const code = (error as { code?: unknown } | null)?.code
  const known = typeof code === 'string' && codeForm.test(code) ? ` (${code})` : ''
  return `the provider failed${known}; log the error in the provider, since its text may hold a secret and is not shown`
}
