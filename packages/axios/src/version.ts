import { refuseArgument } from '@tokenlane/core/adapter'

export const purpose = 'attach tokens'

/**
 * Throws for an instance of axios before 1.7, where the token would follow redirects out of the API. An instance does
 * not tell its version: up to 1.6 these are its adapters, unless the caller lists others.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, with the version that is needed.
 */
export function mustBeNewEnough(instance: object): void {
  const { defaults } = instance as { readonly defaults?: { readonly adapter?: unknown } | undefined }
  if (String(defaults?.adapter) === 'xhr,http')
    refuseArgument(purpose, 'instance', 'an instance of axios 1.7 or later')
}
