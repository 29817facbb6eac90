import type { Api } from '../api/api.ts'
import {
  apiFailureAnswer,
  type Cut,
  type Fault,
  type FaultSlot,
  type FaultSpan,
  issuerFailureAnswer,
} from '../faults/fault.ts'
import type { Latency } from '../faults/latency.ts'
import type { Cluster } from '../issuer/cluster.ts'
import type { Issuer } from '../issuer/issuer.ts'
import type { Journal } from '../journal/journal.ts'
import { perRealm, realms, type Realm } from '../realm.ts'
import type { ServerClock } from '../server/server-clock.ts'
import { plan } from './plan.ts'
import { Player } from './scenario.ts'
import type { Judge } from '../verdict/verdict.ts'
import { WrongValueError } from '../allowed.ts'
import { checkedArguments, parsedArguments } from './arguments.ts'
import { definitions } from './definitions.ts'
import type { SandboxControl } from './sandbox-control.ts'
import { apiStates, issuerStates } from './state.ts'

export interface Controlled {
  issuers: Record<Realm, Issuer>
  apis: Record<Realm, Api>
  journal: Journal
  judge: Judge
  environment: () => Record<string, string>
  now: () => number
}

export function createControl({
  issuers,
  apis,
  journal,
  judge,
  environment,
  now,
}: Controlled): SandboxControl {
  const issuersOf = (realm?: Realm): Issuer[] =>
    (realm === undefined ? realms : [realm]).map((each) => issuers[each])
  const atIssuers = serverFaults(issuers, issuerFailureAnswer)
  const atApis = serverFaults(apis, apiFailureAnswer)

  const clusterOf = (realm: Realm): Cluster => issuers[realm].cluster as Cluster
  const parse: typeof parsedArguments = (name, given) => {
    const args = parsedArguments(name, given)
    if (definitions[name].needsCluster && issuers[args[0] as Realm].cluster === undefined)
      throw new WrongValueError(['the issuer has no cluster: set its option workloadIdentity'])
    return args
  }

  const player = new Player()
  const functions: SandboxControl = {
    counts: () => ({
      issuers: perRealm((realm) => issuers[realm].counts()),
      apis: perRealm((realm) => apis[realm].counts()),
    }),
    resetCounts() {
      for (const realm of realms) {
        issuers[realm].resetCounts()
        apis[realm].resetCounts()
      }
    },
    state: () => ({
      at: new Date().toISOString(),
      issuers: issuerStates(issuers, now),
      apis: apiStates(apis),
      scenario: player.progress(),
      journal: journal.counts(),
    }),
    journal: (filter) => journal.entries(filter),
    verdict: () => judge.verdict(),
    clearJournal() {
      journal.clear()
      judge.clear()
    },
    environment,

    expireTokens(realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.expireAll()
    },
    revokeTokens(realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.revokeAll()
    },
    setTokenLifetime(lifetime, realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.lifetime = lifetime
    },

    rotateSecret(realm, { overlap = false } = {}) {
      const { registration } = issuers[realm]
      registration.rotate({ overlap })
      return registration.credentials()
    },
    dropOldSecrets(realm) {
      issuers[realm].registration.dropOldSecrets()
    },

    dropSecrets(realm) {
      issuers[realm].registration.dropSecrets()
    },
    makeAssertion: (realm, options) => clusterOf(realm).assertion(options),
    projectAssertion: (realm, options) => clusterOf(realm).project(options),
    rotateClusterKeys(realm, { overlap = false } = {}) {
      clusterOf(realm).rotateKeys({ overlap })
    },

    slowIssuer: atIssuers.slow,
    failIssuer: atIssuers.fail,
    killIssuer: atIssuers.kill,
    setIssuerClock: atIssuers.setClock,
    restoreIssuer: atIssuers.restore,

    slowApi: atApis.slow,
    failApi: atApis.fail,
    killApi: atApis.kill,
    setApiClock: atApis.setClock,
    restoreApi: atApis.restore,
    setRatePolicy(realm, policy) {
      apis[realm].ratePolicy = policy ?? undefined
    },

    playScenario(scenario) {
      player.play(plan(scenario, control, parse))
    },
    stopScenario() {
      player.stop()
    },
  }
  const control = checkedArguments(functions, parse)
  return control
}

interface FaultyServer {
  slowness: Latency
  readonly faults: FaultSlot<Fault>
  readonly clock: ServerClock
}

/**
 * Returns the control functions that make one kind of servers misbehave.
 *
 * @param faultOf - returns what the server does for a failure as control describes it.
 */
function serverFaults<Failure extends FaultSpan>(
  servers: Readonly<Record<Realm, FaultyServer>>,
  faultOf: (failure: Failure) => Fault,
) {
  return {
    slow: (realm: Realm, ms: Latency): void => {
      servers[realm].slowness = ms
    },
    fail: (realm: Realm, failure: Failure): void => {
      servers[realm].faults.set(faultOf(failure), failure)
    },
    kill: (realm: Realm, span: Cut = {}): void => {
      servers[realm].faults.set(span.midBody === true ? 'cut-body' : 'cut', span)
    },
    setClock: (realm: Realm, offset: number): void => {
      servers[realm].clock.offset = offset
    },
    restore: (realm?: Realm): void => {
      for (const each of realm === undefined ? realms : [realm]) {
        const server = servers[each]
        server.slowness = 0
        server.clock.offset = 0
        server.faults.clear()
      }
    },
  }
}
