import * as v from 'valibot'

import { object, oneOf, optional, trueOrFalse, type Allowed } from '../allowed.ts'
import { perRealm, type Realm } from '../realm.ts'

/** How a client authenticates, named as in OpenID Connect Core §9. */
export type ClientAuthentication = 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt'

const clientAuthentications: readonly ClientAuthentication[] = [
  'client_secret_post',
  'client_secret_basic',
  'private_key_jwt',
]

/** How one issuer of the sandbox differs from the service's own. */
export interface IssuerSettings {
  /**
   * How the client must authenticate; everything else is refused.
   *
   * @defaultValue 'client_secret_post'
   */
  clientAuthentication?: ClientAuthentication
  /**
   * Whether the issuer publishes metadata, under both well-known paths (RFC 8414, OpenID Connect Discovery).
   *
   * @defaultValue false
   */
  metadata?: boolean
  /**
   * Whether the client may also authenticate with an assertion from the sandbox's cluster, as a Kubernetes workload
   * does; with `single-use`, each assertion is accepted only once. Requires a `clientAuthentication` with a secret.
   *
   * @defaultValue false
   */
  workloadIdentity?: boolean | 'single-use'
  /** The scopes that each token request must name, separated by spaces; empty for none. Default: the service's own. */
  scope?: string
  /** Path of the token endpoint, such as `/oauth2/token`. Default: the service's own. */
  tokenPath?: string
  /**
   * Claims of the access tokens beside the issuer's own, such as `roles` or another `aud`. The tokens are then JWTs, and
   * the issuer publishes the key for them at `/jwks`, as it does with `metadata`. Default: none.
   */
  claims?: Readonly<Record<string, unknown>>
}

const path = 'a path such as /oauth2/token'
const scopes = 'scopes separated by single spaces'
/** What the sandbox itself knows a token by. */
const ownClaims = ['iss', 'iat', 'exp', 'jti']
const claims = `an object of claims, without ${ownClaims.join(', ')}`
const areClaims = (given: unknown): boolean =>
  typeof given === 'object' &&
  given !== null &&
  !Array.isArray(given) &&
  !ownClaims.some((claim) => claim in given)
const besideKeys =
  "false if clientAuthentication is 'private_key_jwt': workload identity needs a method that uses a secret"

export const issuerSettings: Allowed<Partial<Record<Realm, IssuerSettings>>> = object<
  Partial<Record<Realm, IssuerSettings>>
>(
  perRealm(() =>
    optional(
      v.pipe(
        object<IssuerSettings>({
          clientAuthentication: optional(oneOf(clientAuthentications)),
          metadata: optional(trueOrFalse),
          workloadIdentity: optional(
            v.union([trueOrFalse, v.literal('single-use')], "true, false or 'single-use'"),
          ),
          // RFC 6749 §3.3
          scope: optional(v.pipe(v.string(scopes), v.regex(/^(?:[!#-[\]-~]+(?: [!#-[\]-~]+)*)?$/, scopes))),
          tokenPath: optional(v.pipe(v.string(path), v.regex(/^(?:\/[\w.~-]+)+$/, path))),
          claims: optional(v.custom<Readonly<Record<string, unknown>>>(areClaims, claims)),
        }),
        v.rawCheck(({ dataset, addIssue }) => {
          const { value, typed } = dataset
          if (!typed || value.clientAuthentication !== 'private_key_jwt' || !value.workloadIdentity) return
          const at = {
            type: 'object',
            origin: 'value',
            input: { ...value },
            key: 'workloadIdentity',
          } as const
          addIssue({ message: besideKeys, path: [{ ...at, value: value.workloadIdentity }] })
        }),
      ),
    ),
  ),
)

const usual = {
  clientAuthentication: 'client_secret_post',
  metadata: false,
  workloadIdentity: false,
  claims: {},
} as const

/** The two issuers of the service. */
export const service: Readonly<Record<Realm, Required<IssuerSettings> & { tokenFormat: 'jwt' | 'opaque' }>> =
  {
    general: { ...usual, scope: '', tokenPath: '/public/security/v1/token', tokenFormat: 'jwt' },
    weblink: {
      ...usual,
      scope: 'WebLinkAPI',
      tokenPath: '/IdentityServer/connect/token',
      tokenFormat: 'opaque',
    },
  }
