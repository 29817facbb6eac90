import { createApi, type Api } from './api/api.ts'
import { resourceMetadata } from './api/resource-metadata.ts'
import type { KnownToken } from './api/presented-token.ts'
import { createRandom } from './faults/latency.ts'
import { ClientRegistration } from './issuer/client-registration.ts'
import { createIssuer, type Issuer } from './issuer/issuer.ts'
import { service } from './issuer/issuer-settings.ts'
import { TokenLedger } from './issuer/token-ledger.ts'
import { Connections, noticeOldTls, type Watch, watched } from './journal/watch.ts'
import type { Journal } from './journal/journal.ts'
import type { Judge } from './verdict/verdict.ts'
import { realms, type Realm } from './realm.ts'
import type { CheckedOptions } from './sandbox-options.ts'
import { makeCertificates } from './server/certificates.ts'
import { openLoopbackServer, type LoopbackServer } from './server/loopback-server.ts'
import { Pulse } from './server/pulse.ts'
import { ServerClock } from './server/server-clock.ts'

/** Where the sandbox's servers are. */
export interface ServiceUrls {
  authUrl: string
  weblinkAuthUrl: string
  apiUrl: string
  weblinkUrl: string
}

/** Two issuers and two APIs, each on an HTTPS origin of its own. */
export interface Service {
  readonly urls: ServiceUrls
  /** Certificate of the authority that signed the servers' certificates, PEM. */
  readonly ca: string
  readonly issuers: Record<Realm, Issuer>
  readonly apis: Record<Realm, Api>
  close(): Promise<void>
}

/** Returns the time on the sandbox's own clock, in milliseconds. It measures every duration, because it cannot be set. */
export const now = (): number => performance.now()

export async function startService(
  { tokenLifetime, records, ratePolicies, issuers: settings, delays, seed, port, place }: CheckedOptions,
  seen: { readonly journal: Journal; readonly judge: Judge },
): Promise<Service> {
  const certificates = await makeCertificates(place.names)
  const open = (offset: number): Promise<LoopbackServer> =>
    openLoopbackServer(certificates, place, port === undefined ? undefined : port + offset)
  const servers = await Promise.all([open(1), open(2), open(3), open(4)])
  const [authServer, weblinkAuthServer, apiServer, weblinkServer] = servers
  const [generalUrl, weblinkUrl] = [`${apiServer.origin}/`, `${weblinkServer.origin}/api/`]
  const pulse = new Pulse(now)
  const connections = new Connections()
  const random = createRandom(seed ?? Math.floor(Math.random() * 2 ** 32))

  /** Returns what the issuers know about a token. */
  const identify = (token: string): KnownToken | undefined => {
    for (const issuer of realms) {
      const { ledger } = issuers[issuer]
      const entry = ledger.entryOf(token)
      if (entry !== undefined) return { issuer, entry, state: ledger.stateOf(entry) }
    }
    return undefined
  }
  const watch = (realm: Realm, kind: 'issuer' | 'api'): Watch => ({
    ...seen,
    connections,
    realm,
    kind,
    now,
    pulse,
    clock: new ServerClock(),
    recognize(text) {
      if (realms.some((each) => issuers[each].registration.had(text))) return 'secret'
      return identify(text) && 'token'
    },
  })
  const startIssuer = async (realm: Realm, server: LoopbackServer, baseUrl: string): Promise<Issuer> => {
    const watching = watch(realm, 'issuer')
    const isDescribed = settings[realm]?.metadata === true
    const issuer = await createIssuer({
      realm,
      origin: server.origin,
      settings: { ...service[realm], ...settings[realm] },
      // claims are those of a JWT
      tokenFormat: settings[realm]?.claims === undefined ? service[realm].tokenFormat : 'jwt',
      // what the API's metadata calls it
      audience: isDescribed ? baseUrl : `${server.origin}/api`,
      registration: new ClientRegistration(realm),
      ledger: new TokenLedger(tokenLifetime, now, realm),
      now,
      random,
      clock: watching.clock,
    })
    serve(issuer, server, watching)
    return issuer
  }
  const issuers = {
    general: await startIssuer('general', authServer, generalUrl),
    weblink: await startIssuer('weblink', weblinkAuthServer, weblinkUrl),
  }

  const startApi = (realm: Realm, server: LoopbackServer, baseUrl: string, issuer: string): Api => {
    const watching = watch(realm, 'api')
    const { metadata, scope } = issuers[realm].settings
    const api = createApi({
      realm,
      baseUrl,
      metadata: metadata ? resourceMetadata(baseUrl, issuer, scope) : undefined,
      identify,
      records,
      ratePolicy: ratePolicies[realm],
      delays,
      now,
      random,
      clock: watching.clock,
    })
    serve(api, server, watching)
    return api
  }
  const apis = {
    general: startApi('general', apiServer, generalUrl, authServer.origin),
    weblink: startApi('weblink', weblinkServer, weblinkUrl, weblinkAuthServer.origin),
  }

  return {
    urls: {
      authUrl: authServer.origin,
      weblinkAuthUrl: weblinkAuthServer.origin,
      apiUrl: apis.general.baseUrl,
      weblinkUrl: apis.weblink.baseUrl,
    },
    ca: certificates.ca,
    issuers,
    apis,
    async close() {
      pulse.stop()
      for (const realm of realms) issuers[realm].cluster?.close()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

function serve(handling: Issuer | Api, server: LoopbackServer, watch: Watch): void {
  server.serve(
    watched((request, response, reachedAt) => handling.handle(request, response, reachedAt), watch),
    (offered) => noticeOldTls(offered, watch),
  )
}
