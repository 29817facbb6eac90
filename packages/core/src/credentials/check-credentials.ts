import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'
import { mustBeObject, refuse } from '../options/check.ts'
import { withAllFaults } from '../options/faults.ts'
import { list, mustBeKnown } from '../options/reader.ts'
import { type ClientForm, clientWith, fieldsOf, kindOf, readClient } from './client.ts'
import type { ClientCredentials, CredentialsProvider, CredentialsSource } from './credentials.ts'

/**
 * Returns credentials that are in order, for the options; a provider is asked for them later.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` for wrong ones, by option path.
 */
export function checkCredentials(
  value: unknown,
  path: string,
  form: ClientForm,
): CredentialsSource<ClientCredentials> {
  if (typeof value === 'function') {
    const provider = value as CredentialsProvider<ClientCredentials>
    checkProvider(provider, path, form)
    return provider
  }
  const read = (client: unknown, clientPath: string): ClientCredentials =>
    checkClient(client, clientPath, form)
  if (!Array.isArray(value)) return read(value, path)
  if (value.length === 0) refuse(path, 'an empty array', 'one client or more')
  return list(read, 'an array')(value, path)
}

function checkProvider(
  provider: CredentialsProvider<ClientCredentials>,
  path: string,
  form: ClientForm,
): void {
  try {
    const check = provider.check as ((...form: readonly unknown[]) => void) | undefined
    check?.(form.method, form)
  } catch (error) {
    const reason = isTokenlaneError(error) ? reasonOf(error) : "the credentials provider's `check` failed"
    throw new TokenlaneError(
      'INVALID_OPTIONS',
      `Cannot create token manager: ${reason.replace(/^Cannot read credentials: /, '')} (read by \`${path}\`)`,
    )
  }
}

function checkClient(value: unknown, path: string, form: ClientForm): ClientCredentials {
  mustBeObject(value, path, clientWith(form.forms))
  return withAllFaults((collect) => {
    mustBeKnown(value, path, fieldsOf(kindOf(value, form.forms)), collect)
    const read = readClient(value, form)
    if ('client' in read) return read.client
    for (const { field, given, allowed } of read.faults)
      collect(refuse, field === undefined ? path : `${path}.${field}`, given, allowed)
    return undefined as never
  })
}
