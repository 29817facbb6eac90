import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'
import { mustBeObject, refuse } from '../options/check.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type CredentialsProvider,
  type CredentialsSource,
} from './credentials.ts'
import { credentialsFields, readCredentials } from './read-credentials.ts'

/**
 * Returns credentials that are in order, for the options; a provider is asked for them later.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` for wrong ones, by option path.
 */
export function checkCredentials(
  value: unknown,
  path: string,
  method: ClientAuthenticationMethod,
): CredentialsSource<ClientCredentials> {
  if (typeof value === 'function') {
    const provider = value as CredentialsProvider<ClientCredentials>
    checkProvider(provider, path, method)
    return provider
  }
  if (!Array.isArray(value)) return checkClient(value, path, method)
  if (value.length === 0) refuse(path, 'an empty array', 'one client or more')
  return value.map((client, index) => checkClient(client, `${path}[${index}]`, method))
}

function checkProvider(
  provider: CredentialsProvider<ClientCredentials>,
  path: string,
  method: ClientAuthenticationMethod,
): void {
  try {
    provider.check?.(method)
  } catch (error) {
    const reason = isTokenlaneError(error) ? reasonOf(error) : 'its check failed'
    throw new TokenlaneError(
      'INVALID_OPTIONS',
      `Cannot create token manager: ${reason.replace(/^Cannot read credentials: /, '')} (read by \`${path}\`)`,
    )
  }
}

function checkClient(value: unknown, path: string, method: ClientAuthenticationMethod): ClientCredentials {
  mustBeObject(value, path, credentialsFields(method))
  const read = readCredentials(value, method)
  if ('credentials' in read) return read.credentials
  const { key, given, allowed } = read.fault
  return refuse(key === undefined ? path : `${path}.${key}`, given, allowed)
}
