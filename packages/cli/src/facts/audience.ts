import type { Application } from '../application/application.ts'
import { metadataUrls, readProtectedResource } from '../metadata/protected-resource.ts'
import type { CallFacts } from './call.ts'
import type { TokenFacts } from './token.ts'

export interface ResourceFacts {
  readonly api: string
  /** `resource` of its metadata (RFC 9728 §2). */
  readonly resource: string
}

/**
 * Reads the protected resource metadata of each API whose issuer gives tokens that name an audience, and returns what each
 * API calls itself. Metadata that is missing, cannot be read or describes another API is left out (RFC 9728 §3.3).
 *
 * @param call whose response may name the place of the metadata (RFC 9728 §5.1).
 */
export async function lookAtResources(
  { configuration: { apis } }: Application,
  tokens: readonly TokenFacts[],
  call: CallFacts | undefined,
): Promise<readonly ResourceFacts[]> {
  const named = apis.filter(({ issuer }) =>
    tokens.some((token) => token.issuer === issuer && token.audiences !== undefined),
  )
  const found = await Promise.all(
    named.map(async ({ baseUrl: api }): Promise<readonly ResourceFacts[]> => {
      const place = call?.api === api ? placeOf(new URL(api), call.resourceMetadata) : undefined
      const places = [...(place === undefined ? [] : [place]), ...metadataUrls(new URL(api))]
      // a server that does not respond has a finding of its own
      const described = await readProtectedResource(new URL(api), places).catch(() => undefined)
      return typeof described === 'object' ? [{ api, resource: described.resource.href }] : []
    }),
  )
  return found.flat()
}

/** Another origin is not asked: the API alone says that the metadata is there. */
function placeOf(api: URL, given = ''): URL | undefined {
  const place = URL.parse(given)
  return place?.origin === api.origin ? place : undefined
}
