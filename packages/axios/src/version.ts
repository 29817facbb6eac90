import { refuseArgument } from '@tokenlane/core/adapter'

export const purpose = 'attach tokens'

/**
 * Throws for an instance of axios before 1.7, where the token would follow redirects out of the API. An instance does
 * not tell its version: from 1.7 on it has an adapter for `fetch`.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, with the version that is needed.
 */
export function mustBeNewEnough(instance: object): void {
  const { defaults } = instance as { readonly defaults?: { readonly adapter?: unknown } | undefined }
  const adapters = defaults?.adapter
  if (Array.isArray(adapters) && !adapters.includes('fetch'))
    refuseArgument(purpose, 'instance', 'an instance of axios 1.7 or later')
}
