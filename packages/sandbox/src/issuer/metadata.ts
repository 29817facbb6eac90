import type { IssuerSettings } from './issuer-settings.ts'

/** Where metadata is: RFC 8414 §3, and OpenID Connect Discovery 1.0 §4. */
export const metadataPaths: readonly string[] = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
]

export const jwksPath = '/jwks'

export function metadataOf(
  origin: string,
  { clientAuthentication, scope, tokenPath, workloadIdentity }: Required<IssuerSettings>,
  hasJwts: boolean,
): Record<string, unknown> {
  const methods =
    workloadIdentity === false ? [clientAuthentication] : [clientAuthentication, 'private_key_jwt']
  return {
    issuer: origin,
    token_endpoint: origin + tokenPath,
    ...(hasJwts && { jwks_uri: origin + jwksPath }),
    token_endpoint_auth_methods_supported: methods,
    ...(methods.includes('private_key_jwt') && {
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
    }),
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    ...(scope !== '' && { scopes_supported: scope.split(' ') }),
  }
}
