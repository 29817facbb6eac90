import { isTokenlaneError, TokenlaneError, whyOf } from '../errors.ts'
import { allOf, besides, has, mustBeObject, refuse, unknownOptions } from '../options/check.ts'
import {
  type CalledProvider,
  clientWith,
  type CredentialsKinds,
  fieldsOf,
  kindOf,
  markOf,
  readClient,
} from './client.ts'
import type { ClientCredentials } from './credentials.ts'

export interface CheckedCredentials {
  /** The clients that are known before a provider is called: it may have read them when it was checked. */
  readonly initial: readonly ClientCredentials[]
  /** Set if the clients may be others at each token request. */
  readonly provider?: CalledProvider
}

export function checkCredentials(value: unknown, path: string, kinds: CredentialsKinds): CheckedCredentials {
  if (typeof value === 'function') {
    const provider = value as CalledProvider
    return { provider, initial: checkProvider(provider, path, kinds) }
  }
  // of any realm
  if (Object.prototype.toString.call(value) === '[object Promise]')
    refuse(path, 'a promise', 'what it resolves to (`await` it), or a function')
  if (!Array.isArray(value)) return { initial: [checkClient(value, path, kinds)] }
  if (value.length === 0) refuse(path, 'an empty array', 'one client or more')
  return { initial: allOf(value, (client, index) => checkClient(client, `${path}[${index}]`, kinds)) }
}

function checkProvider(
  provider: CalledProvider,
  path: string,
  kinds: CredentialsKinds,
): readonly ClientCredentials[] {
  try {
    const clients = provider.check?.(kinds[0].method, kinds)
    return Array.isArray(clients) ? clients : []
  } catch (error) {
    const reason = isTokenlaneError(error) ? whyOf(error) : 'the `check` of the credentials function failed'
    throw new TokenlaneError('INVALID_OPTIONS', `${reason} (read by \`${path}\`)`)
  }
}

/** Returns the names of variables, or the path, that a provider reads, if it says so. */
export function placeOf(provider: CalledProvider | undefined, kinds: CredentialsKinds): string | undefined {
  try {
    return provider?.readsFrom?.(kinds[0].method, kinds)
  } catch {
    // it is asked for a message, and that must come
    return undefined
  }
}

function checkClient(value: unknown, path: string, kinds: CredentialsKinds): ClientCredentials {
  mustBeObject(value, path, clientWith(kinds))
  const read = readClient(value, kinds)
  const faults = has(read, 'faults') ? read.faults : []
  const refusals = faults.map(
    ({ field, given, allowed }) => [field, (_: unknown, at: string) => refuse(at, given, allowed)] as const,
  )
  const kind = kindOf(value, kinds)
  const marks = new Set(kinds.map(markOf))
  const unknown = unknownOptions(value, fieldsOf(kind), kinds.flatMap(fieldsOf)).map(
    ([name, refusal]) => [name, marks.has(name) ? besides(markOf(kind)) : refusal] as const,
  )
  allOf([...unknown, ...refusals], ([name, refusal]) => refusal(undefined, `${path}.${name}`))
  return (read as { readonly client: ClientCredentials }).client
}
