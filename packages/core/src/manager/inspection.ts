import { tlsIdentityOf } from '../credentials/certificate.ts'
import { keyOf } from '../credentials/client.ts'
import type { CredentialRotation } from '../credentials/credential-rotation.ts'
import type { CertificateCredentials, ClientCredentials } from '../credentials/credentials.ts'
import { type Oddity, oddityOf } from '../credentials/text-fields.ts'
import { mayBeAboutClient } from '../credentials/refused-client.ts'
import { isTokenlaneError, reasonOf } from '../errors.ts'
import type { ClientTokenSource, Wait } from '../issuer/token-source.ts'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import type { TokenStore } from '../store/token-store.ts'
import { certificateIn } from '../tls/client-certificate.ts'
import type { CheckedOptions } from './check-options.ts'
import type { ApiOptions } from './manager-options.ts'
import { issuerNamed } from './token-manager.ts'

interface InspectedIssuer {
  readonly credentials: CredentialRotation
  /** Asks the issuer, without a look at what other processes have stored. */
  readonly issuing: ClientTokenSource
  readonly requestTimeout: number
}

export const managers: WeakMap<
  object,
  { readonly options: CheckedOptions; readonly issuers: ReadonlyMap<string, InspectedIssuer> }
> = new WeakMap()

/** A manager's configuration, for tools that inspect it. Holds no secrets and no credentials. */
export interface ManagerConfiguration {
  readonly issuers: readonly IssuerConfiguration[]
  readonly apis: readonly (Pick<ApiOptions, 'issuer' | 'ratePolicy'> & { readonly baseUrl: string })[]
  /** Whether the application's own `fetch` makes the token requests. */
  readonly ownFetch: boolean
  /** Whether tokens are shared with other processes. */
  readonly store: boolean
  /** Whether the application's own limiter enforces the rate policies. */
  readonly limiter: boolean
}

interface IssuerConfiguration {
  readonly name: string
  /** The token endpoint, or the issuer identifier of a server whose metadata names it; without a query. */
  readonly url: string
  /** Whether the token endpoint is learned from metadata. */
  readonly discovered: boolean
  /** The path of the option that names the URL. */
  readonly option: string
  readonly clientAuthentication: string
  /** Where the credentials are read from: the names of variables or a path if known, otherwise the option's path. */
  readonly credentials: string
  /** In milliseconds, `undefined` if the default applies. */
  readonly renewBefore: number | undefined
}

/**
 * Returns a manager's configuration as of its creation, without any secret, or `undefined` for anything that this copy
 * of the package did not create.
 */
export function configurationOf(tokens: unknown): ManagerConfiguration | undefined {
  const manager = managers.get(tokens as object)
  if (manager === undefined) return undefined
  const { issuers, apis, fetch, store, limiter } = manager.options
  return {
    issuers: Array.from(issuers, ([name, issuer]) => {
      const { url, isDiscovered, option, clientAuthentication, renewBefore } = issuer
      return {
        name,
        url: url.origin + url.pathname,
        discovered: isDiscovered,
        option,
        clientAuthentication,
        credentials: issuer.credentialsPlace?.() || issuer.credentialsOption,
        renewBefore,
      }
    }),
    apis,
    ownFetch: fetch !== undefined,
    store: store !== undefined,
    limiter: limiter !== undefined,
  }
}

interface ClientDescription {
  readonly clientId: string
  /** Set if the client's assertion comes from outside; `path` is the file that it is read from, if any. */
  readonly assertion?: { readonly path?: string | undefined }
  /** Set if a field looks wrong: what is odd about which. */
  readonly oddities?: readonly { readonly field: string; readonly oddity: Oddity }[]
  /** Set if it is known when the secret was issued. */
  readonly secretIssuedAt?: Date | undefined
  /** The client's certificate, if it authenticates with one, as PEM text: it is public. */
  readonly certificate?: string
}

interface ClientOutcome extends ClientDescription {
  /** `unknown` if the request failed for a reason that is not the client's. */
  readonly outcome: 'accepted' | 'refused' | 'unknown'
  /** Set with `assertion`: why that was not sent. */
  readonly fault?: string | undefined
}

/**
 * What a diagnostic tool can try out: the objects that the application passed to its manager, and its credentials. For
 * what can be printed, see `configurationOf`.
 */
export interface Inspection {
  /** Makes the token requests; `undefined` if the runtime's does. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly store: TokenStore | undefined
  readonly limiter: RateLimiterFactory | undefined
  /**
   * Returns the clients of an issuer, in the order of its credentials, without asking it. Both functions throw
   * `CREDENTIALS_UNAVAILABLE`, or `INVALID_OPTIONS` for an unknown issuer.
   */
  clients(issuer: string): Promise<readonly ClientDescription[]>
  /**
   * Returns the issuer's verdict on each of its clients, in the order of its credentials. Makes one request for each
   * client the manager has not used yet, and discards those tokens.
   */
  tryClients(issuer: string): Promise<readonly ClientOutcome[]>
}

/**
 * Returns what can be tried out on a manager, or `undefined` for anything that this copy of the package did not create.
 */
export function inspectionOf(tokens: unknown): Inspection | undefined {
  const manager = managers.get(tokens as object)
  if (manager === undefined) return undefined
  const { fetch, store, limiter } = manager.options
  return {
    fetch,
    store,
    limiter,
    async clients(name) {
      const clients = await clientsOf(issuerNamed(manager.issuers, name))
      return clients.map((client) => describeClient(client))
    },
    async tryClients(name) {
      const issuer = issuerNamed(manager.issuers, name)
      const clients = await clientsOf(issuer)
      return Promise.all(clients.map((client) => outcomeOf(client, issuer)))
    },
  }
}

async function clientsOf({ credentials, requestTimeout }: InspectedIssuer): Promise<ClientCredentials[]> {
  const clients = await credentials.clients(requestTimeout)
  return [...new Map(clients.map((client) => [keyOf(client), client])).values()]
}

function describeClient(client: ClientCredentials): ClientDescription {
  const { clientId, secretIssuedAt } = client
  const { certificate = 'pfx' in client ? certificateIn(tlsIdentityOf(client)) : undefined } =
    client as Partial<CertificateCredentials>
  const texts = { clientId, ...('clientSecret' in client && { clientSecret: client.clientSecret }) }
  const oddities = Object.entries(texts).flatMap(([field, text]) => {
    const oddity = oddityOf(text)
    return oddity === undefined ? [] : [{ field, oddity }]
  })
  return {
    clientId,
    ...(oddities.length > 0 && { oddities }),
    ...(secretIssuedAt && { secretIssuedAt }),
    ...(certificate !== undefined && { certificate }),
    ...('assertion' in client && { assertion: { path: client.assertion.readsFrom?.() } }),
  }
}

/** Requests a token and throws it away, unless the issuer has responded to this client before. */
async function outcomeOf(
  client: ClientCredentials,
  { credentials, issuing }: InspectedIssuer,
): Promise<ClientOutcome> {
  const described = describeClient(client)
  const outcome = credentials.outcomeOf(client)
  if (outcome !== undefined) return { ...described, outcome }
  try {
    await issuing.obtain(client, 'startup', noWait)
    return { ...described, outcome: 'accepted' }
  } catch (error) {
    if (mayBeAboutClient(error)) return { ...described, outcome: 'refused' }
    const isUnproven =
      'assertion' in client && isTokenlaneError(error) && error.code === 'CREDENTIALS_UNAVAILABLE'
    return { ...described, outcome: 'unknown', ...(isUnproven && { fault: reasonOf(error) }) }
  }
}

const noWait: Wait = {
  timeLeft: Infinity,
  needed: false,
  held: undefined,
  accepts: () => true,
  pause: async () => {},
}
