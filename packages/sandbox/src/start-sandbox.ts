import { createApi, type Api } from './api/api.ts'
import { makeCertificates } from './server/certificates.ts'
import { createClientRegistration, type ClientCredentials } from './issuer/client-registration.ts'
import { createControl, type SandboxControl } from './control/control.ts'
import { createIssuer, type Issuer } from './issuer/issuer.ts'
import { openLoopbackServer } from './server/loopback-server.ts'
import { perRealm, type Realm } from './realm.ts'
import { checkOptions, type SandboxOptions } from './sandbox-options.ts'
import { createTokenLedger } from './issuer/token-ledger.ts'

/** The whole service on this machine: two issuers and two APIs, each on an HTTPS origin of its own. */
export interface Sandbox extends AsyncDisposable {
  /** Origin of the general issuer, without a trailing slash, for example `https://127.0.0.1:41234`. */
  readonly authUrl: string
  /** Origin of the weblink issuer, without a trailing slash. */
  readonly weblinkAuthUrl: string
  /** Base URL of the general API; ends in `/`. */
  readonly apiUrl: string
  /** Base URL of the weblink API; ends in `/api/`. */
  readonly weblinkUrl: string
  /** Certificate (PEM) of the authority that all four servers' certificates come from, made for this sandbox only. */
  readonly ca: string
  /** What the two registered applications send to their issuers, always with the newest secrets. */
  readonly credentials: Record<Realm, ClientCredentials>
  readonly control: SandboxControl
  /** Closes all servers and cuts open connections at once. Safe to call again. */
  close(): Promise<void>
}

/** Where the two token endpoints differ, beyond their origins. */
const tokenEndpoints = {
  general: { tokenPath: '/public/security/v1/token', scope: undefined, tokenFormat: 'jwt' },
  weblink: { tokenPath: '/IdentityServer/connect/token', scope: 'WebLinkAPI', tokenFormat: 'opaque' },
} as const

/** Everything that lasts is measured on the clock that nobody can set. */
const now = (): number => performance.now()

/**
 * Starts the service on free ports of 127.0.0.1.
 *
 * @throws TypeError if an option is wrong, naming it, what is allowed and what was given.
 * @example
 * ```ts
 * const sandbox = await startSandbox({ records: 250 })
 * sandbox.control.expireTokens('weblink')
 * ```
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { tokenLifetime, records, ratePolicies, delays } = checkOptions(options)
  const certificates = await makeCertificates()
  const open = () => openLoopbackServer(certificates)
  const [authServer, weblinkAuthServer, apiServer, weblinkServer] = await Promise.all([
    open(),
    open(),
    open(),
    open(),
  ])
  const authServers = { general: authServer, weblink: weblinkAuthServer }
  const apiServers = { general: apiServer, weblink: weblinkServer }
  const baseUrls = { general: `${apiServer.origin}/`, weblink: `${weblinkServer.origin}/api/` }

  const startIssuer = async (realm: Realm): Promise<Issuer> => {
    const issuer = await createIssuer({
      origin: authServers[realm].origin,
      ...tokenEndpoints[realm],
      registration: createClientRegistration(realm),
      ledger: createTokenLedger(tokenLifetime, now),
      now,
    })
    authServers[realm].serve((request, response) => issuer.handle(request, response))
    return issuer
  }
  const issuers = { general: await startIssuer('general'), weblink: await startIssuer('weblink') }

  const startApi = (realm: Realm): Api => {
    const api = createApi({
      baseUrl: baseUrls[realm],
      verify: issuers[realm].verify,
      records,
      ratePolicy: ratePolicies[realm],
      delays,
      now,
    })
    apiServers[realm].serve((request, response) => api.handle(request, response))
    return api
  }

  let closed: Promise<unknown> | undefined
  const close = async (): Promise<void> => {
    closed ??= Promise.all(
      [authServer, weblinkAuthServer, apiServer, weblinkServer].map((server) => server.close()),
    )
    await closed
  }

  return {
    authUrl: authServer.origin,
    weblinkAuthUrl: weblinkAuthServer.origin,
    apiUrl: baseUrls.general,
    weblinkUrl: baseUrls.weblink,
    ca: certificates.ca,
    get credentials() {
      return perRealm((realm) => issuers[realm].registration.credentials())
    },
    control: createControl(issuers, perRealm(startApi)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
