import { isTokenlaneError, reasonOf } from '../errors.ts'
import { has, isRecord, shape } from '../options/check.ts'
import { abortable } from '../time/delay.ts'
import { type CalledProvider, clientWith, type CredentialsKinds, readClient } from './client.ts'
import { type ClientCredentials, type CredentialsContext, unavailable } from './credentials.ts'

/** Calls a credentials provider. Errors quote nothing of what it returned or threw. */
export async function askProvider(
  provider: CalledProvider,
  issuer: string,
  kinds: CredentialsKinds,
  { reason, signal }: CredentialsContext,
): Promise<readonly ClientCredentials[]> {
  const context = { reason, signal, clientAuthentication: kinds[0].method, kinds }
  const given = await askFunction('credentials function', () => provider(context), issuer, signal)
  const mistake = (what: string): Error =>
    unavailable(issuer, `the credentials function returned ${what}`, { definite: true })
  const list: readonly unknown[] = [given].flat()
  if (list.length === 0) throw mistake('an empty array')
  return list.map((value) => {
    if (!isRecord(value))
      throw mistake(`${value === undefined ? 'nothing' : shape(value)}; allowed: ${clientWith(kinds)}`)
    const read = readClient(value, kinds)
    if (has(read, 'client')) return read.client
    const faults = read.faults.map(
      ({ field, given: found, allowed }) => `credentials whose \`${field}\` is ${found}; allowed: ${allowed}`,
    )
    throw mistake(faults.join(', and '))
  })
}

/** Calls a function of the application; throws if it fails or `signal` aborts first. */
export async function askFunction(
  what: string,
  ask: () => unknown,
  issuer: string,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await abortable(Promise.resolve(ask()), signal)
  } catch (error) {
    const reason = signal.aborted ? `the ${what} did not respond in time` : failureOf(what, error)
    throw unavailable(issuer, reason)
  }
}

/** Codes as systems and libraries write them: ENOENT, ERR_ACCESS_DENIED, SecretNotFound. A secret looks otherwise. */
const codeForm = /^(?:E[A-Z]{2,14}|[A-Z]{2,16}(?:_[A-Z]{2,16})+|(?:[A-Z][a-z]{2,15}){2,6})$/
const className = /^(?!Error$)[A-Z]\w{0,63}$/

/** Returns why such a function failed: its class and code alone, since errors of files and vaults may quote what was read. */
function failureOf(what: string, error: unknown): string {
  if (isTokenlaneError(error) && error.code === 'CREDENTIALS_UNAVAILABLE') return reasonOf(error)
  const { code } = (error ?? {}) as { code?: unknown }
  const name = error instanceof Error ? error.constructor.name : ''
  const type = className.test(name) ? ` with ${name}` : ''
  const known = typeof code === 'string' && codeForm.test(code) ? ` (${code})` : ''
  return `the ${what} failed${type}${known}; its error is hidden: log it in the ${what}`
}
