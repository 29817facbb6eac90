import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'

import { createApi, type Api } from './api/api.ts'
import type { KnownToken } from './api/presented-token.ts'
import { makeCertificates } from './server/certificates.ts'
import { createRandom } from './faults/random.ts'
import { createServerClock } from './server/server-clock.ts'
import { createClientRegistration, type ClientCredentials } from './issuer/client-registration.ts'
import { environmentOf } from './environment.ts'
import { createControl, type SandboxControl } from './control/control.ts'
import { createIssuer, type Issuer } from './issuer/issuer.ts'
import { openLoopbackServer } from './server/loopback-server.ts'
import { perRealm, realms, type Realm } from './realm.ts'
import { checkOptions, type SandboxOptions } from './sandbox-options.ts'
import { createJournal, type Journal } from './journal/journal.ts'
import { noticeOldTls } from './journal/old-tls.ts'
import { createWitness } from './journal/witness.ts'
import { watched } from './journal/watch.ts'
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
  /** Where HTTP control is, without a trailing slash; `undefined` unless the option `control` is set. */
  readonly controlUrl: string | undefined
  /** What HTTP control asks for as a bearer token. */
  readonly controlToken: string | undefined
  /** Address of the console page, with the token in its fragment, which browsers send to no server. */
  readonly consoleUrl: string | undefined
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
  const checked = checkOptions(options)
  const { tokenLifetime, records, ratePolicies, delays, seed, journalSize, port, caFile } = checked
  const certificates = await makeCertificates()
  const open = (offset: number) =>
    openLoopbackServer(certificates, port === undefined ? undefined : port + offset)
  const [authServer, weblinkAuthServer, apiServer, weblinkServer] = await Promise.all([
    open(1),
    open(2),
    open(3),
    open(4),
  ])
  const authServers = { general: authServer, weblink: weblinkAuthServer }
  const apiServers = { general: apiServer, weblink: weblinkServer }
  const baseUrls = { general: `${apiServer.origin}/`, weblink: `${weblinkServer.origin}/api/` }
  const random = createRandom(seed ?? Math.floor(Math.random() * 2 ** 32))
  const journal = createJournal(journalSize)
  const witness = createWitness(journal)
  const { judge } = witness

  const identify = async (token: string): Promise<KnownToken | undefined> => {
    for (const issuer of realms) {
      const entry = await issuers[issuer].find(token)
      if (entry !== undefined) return { issuer, entry, state: issuers[issuer].ledger.stateOfEntry(entry) }
    }
    return undefined
  }
  const recognize = async (text: string): Promise<'token' | 'secret' | undefined> => {
    if (realms.some((realm) => issuers[realm].registration.had(text))) return 'secret'
    return (await identify(text)) === undefined ? undefined : 'token'
  }
  const startIssuer = async (realm: Realm): Promise<Issuer> => {
    const clock = createServerClock()
    const issuer = await createIssuer({
      realm,
      origin: authServers[realm].origin,
      ...tokenEndpoints[realm],
      registration: createClientRegistration(realm),
      ledger: createTokenLedger(tokenLifetime, now, realm),
      now,
      random,
      clock,
    })
    const watch = { realm, kind: 'issuer', now, clock, recognize, ...witness } as const
    authServers[realm].serve(
      watched((request, response) => issuer.handle(request, response), watch),
      (offered) => noticeOldTls(offered, watch),
    )
    return issuer
  }
  const issuers = { general: await startIssuer('general'), weblink: await startIssuer('weblink') }

  const startApi = (realm: Realm): Api => {
    const clock = createServerClock()
    const api = createApi({
      realm,
      baseUrl: baseUrls[realm],
      identify,
      records,
      ratePolicy: ratePolicies[realm],
      delays,
      now,
      random,
      clock,
    })
    const watch = { realm, kind: 'api', now, clock, recognize, ...witness } as const
    apiServers[realm].serve(
      watched((request, response) => api.handle(request, response), watch),
      (offered) => noticeOldTls(offered, watch),
    )
    return api
  }
  const apis = perRealm(startApi)

  const credentials = () => perRealm((realm) => issuers[realm].registration.credentials())
  const urls = {
    authUrl: authServer.origin,
    weblinkAuthUrl: weblinkAuthServer.origin,
    apiUrl: baseUrls.general,
    weblinkUrl: baseUrls.weblink,
  }
  const environment = () => environmentOf(urls, credentials(), caFile)
  const control = createControl({ issuers, apis, journal, judge, environment, now })
  const http = checked.control
    ? await serveControl({ control, journal, token: checked.controlToken, ca: certificates.ca, port })
    : undefined
  if (caFile !== undefined) writeFileSync(caFile, certificates.ca)

  let closed: Promise<unknown> | undefined
  const close = async (): Promise<void> => {
    if (closed === undefined && caFile !== undefined) rmSync(caFile, { force: true })
    const servers = [authServer, weblinkAuthServer, apiServer, weblinkServer, http?.server ?? []].flat()
    closed ??= Promise.all(servers.map((server) => server.close()))
    await closed
  }

  return {
    ...urls,
    ca: certificates.ca,
    get credentials() {
      return credentials()
    },
    control,
    controlUrl: http?.server.origin,
    controlToken: http?.token,
    consoleUrl: http === undefined ? undefined : `${http.server.origin}/#token=${http.token}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface ControlParts {
  control: SandboxControl
  journal: Journal
  token: string | undefined
  ca: string
  port: number | undefined
}

/** Loads HTTP control only where it is asked for, because that takes as long as all the rest. */
async function serveControl({ journal, token = randomToken(), ...parts }: ControlParts) {
  const { startHttpControl } = await import('./control/http-control.ts')
  const server = await startHttpControl({ ...parts, token, listen: (listener) => journal.listen(listener) })
  return { server, token }
}

const randomToken = (): string => randomBytes(24).toString('base64url')
