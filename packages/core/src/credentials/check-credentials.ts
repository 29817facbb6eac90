import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'
import { mustBeObject, refuse } from '../options/check.ts'
import { Faults } from '../options/faults.ts'
import { list, type Reader } from '../options/reader.ts'
import { credentialsFields, readClient } from './client.ts'
import type {
  ClientAuthenticationMethod,
  ClientCredentials,
  CredentialsProvider,
  CredentialsSource,
} from './credentials.ts'

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
  const read = clientReader(method)
  if (!Array.isArray(value)) return read(value, path)
  if (value.length === 0) refuse(path, 'an empty array', 'one client or more')
  return list(read, 'an array')(value, path)
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

function clientReader(method: ClientAuthenticationMethod): Reader<ClientCredentials> {
  return (value, path) => {
    mustBeObject(value, path, credentialsFields(method))
    const read = readClient(value, method)
    if ('client' in read) return read.client
    const faults = new Faults()
    for (const { field, given, allowed } of read.faults)
      faults.collect(refuse, field === undefined ? path : `${path}.${field}`, given, allowed)
    return faults.raise() as never
  }
}
