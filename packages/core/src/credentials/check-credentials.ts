import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'
import { allOf, mustBeObject, refuse, unknownOptions } from '../options/check.ts'
import { list } from '../options/reader.ts'
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
      `${reason.replace(/^Cannot read credentials: /, '')} (read by \`${path}\`)`,
    )
  }
}

function checkClient(value: unknown, path: string, form: ClientForm): ClientCredentials {
  mustBeObject(value, path, clientWith(form.forms))
  const read = readClient(value, form)
  const faults = 'faults' in read ? read.faults : []
  allOf([
    ...unknownOptions(value, path, fieldsOf(kindOf(value, form.forms))),
    ...faults.map(({ field, given, allowed }) => () => {
      refuse(field === undefined ? path : `${path}.${field}`, given, allowed)
    }),
  ])
  return (read as { readonly client: ClientCredentials }).client
}
