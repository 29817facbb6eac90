import { askIssuer } from '../issuer/token-request.ts'
import { askInTurn } from '../issuer/busy-endpoint.ts'
import { limitedRequests } from '../issuer/limited-requests.ts'
import { type BudgetFactory, budgetsOf as ownBudgets } from '../limits/shared-budgets.ts'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import type { CallsWithoutToken } from '../send/calls-without-token.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import type { CheckedIssuer } from '../issuer/check-issuer.ts'
import { checkOptions } from './check-options.ts'
import { contestedToken } from '../token/contested-token.ts'
import { credentialRotation } from '../credentials/credential-rotation.ts'
import { defined, type Emit } from '../events.ts'
import { faultOfProcess } from '../tls/tls-floor.ts'
import { issuerNamed, type IssuerStatus, register, type Registration } from './token-manager.ts'
import { managers } from './inspection.ts'
import { mustBeSupportedRuntime } from './supported-runtime.ts'
import { nodeDebugObserver } from '../log-observer.ts'
import { observersOf } from './observers.ts'
import { own as ownOption } from '../options/check.ts'
import { ProtectedApi } from '../send/protected-api.ts'
import { refusesToken } from '../send/bearer-challenge.ts'
import { Rejections } from '../send/rejections.ts'
import { RenewingToken } from '../token/renewing-token.ts'
import { type SharedStore, sharingBy, type ShareTokens, storeOfTool } from '../store/token-store.ts'
import { stepTime } from '../time/countdown.ts'
import type { TokenSource } from '../issuer/token-source.ts'
import type { TokenEndpoint } from '../issuer/protocol.ts'
import { tokenNotices } from '../issuer/token-notices.ts'
import { TokenlaneError } from '../errors.ts'
import type { TokenManagerOptions } from './manager-options.ts'

interface PartsOptions {
  readonly tenant?: string
  /** Names of the other options if one object holds those of the manager and of its only issuer. */
  readonly others?: readonly string[]
  /** Returns a factory of budgets, which other managers may share. */
  readonly budgetsOf?: (limiter: RateLimiterFactory | undefined) => BudgetFactory
  readonly callsWithoutToken?: CallsWithoutToken
}

/**
 * Puts a manager together of the issuers and the APIs that its options name.
 *
 * @param tokens what messages and events name as the manager.
 * @throws TokenlaneError as `createTokenManager` does; `refusingTo` adds what could not be done.
 */
export function putTogether(
  given: TokenManagerOptions,
  tokens: object,
  { tenant, others, budgetsOf = ownBudgets, callsWithoutToken }: PartsOptions = {},
): Registration {
  mustBeSupportedRuntime(ownOption(given, 'runtime'))
  const fault = faultOfProcess()
  if (fault !== undefined) throw new TokenlaneError('INSECURE_TRANSPORT', fault)
  const own = checkOptions(given, others)
  const options = {
    ...own,
    store: own.store ?? (globalThis as { [storeOfTool]?: SharedStore })[storeOfTool],
  }
  const observers = observersOf([...options.observe, ...nodeDebugObserver()], tokens, tenant)
  const { emit } = observers
  const { fetch, store, limiter } = options
  const share = store && sharingBy(store, emit)
  const exclude = (url: URL): void => registration.exclude(url)
  const issuers = new Map(
    Array.from(options.issuers, ([issuer, checked]) => {
      const beforeRequest = checked.isDiscovered ? exclude : undefined
      const asked = { ...checked, fetch, beforeRequest, manager: tokens, issuer }
      return [issuer, managedIssuer(asked, emit, { share, limiter })]
    }),
  )
  const callsUnderWay = new CallsUnderWay()
  const budgetOf = budgetsOf(limiter)
  const apis = options.apis.map((api, index) => {
    const { token, contested } = issuerNamed(issuers, api.issuer)
    const option = others ? (options.issuers.get(api.issuer)?.option as string) : `apis[${index}].issuer`
    const shared = { ...api, option, budgetOf, token, callsUnderWay, emit }
    const rejections = new Rejections(shared, contested)
    return new ProtectedApi({ ...shared, rejections, refuses: refusesToken })
  })
  const registration = register({ issuers, apis, callsUnderWay, observers, callsWithoutToken })
  // those that metadata names are excluded when they are asked
  for (const { isDiscovered, url } of options.issuers.values()) if (!isDiscovered) registration.exclude(url)
  managers.set(tokens, { options, issuers })
  return registration
}

/** Wires one issuer: its credentials, the requests to it, and its token, which `share` shares with other processes. */
function managedIssuer(
  asked: CheckedIssuer & TokenEndpoint,
  emit: Emit,
  {
    share,
    limiter,
  }: { readonly share: ShareTokens | undefined; readonly limiter: RateLimiterFactory | undefined },
) {
  const { issuer, maxWait, ratePolicy, allowInsecureHosts: hosts } = asked
  if (hosts.length > 0) emit({ type: 'transport.insecure', issuer, hosts })
  const contested = contestedToken(issuer, emit)
  const notices = tokenNotices(issuer, emit)
  const credentials = credentialRotation(asked, emit)
  // calls may come to wait for a request that began in the background
  const requestTimeout = Math.min(asked.requestTimeout, maxWait)
  const asking = askIssuer(asked, requestTimeout)
  const issuing =
    ratePolicy === undefined ? asking : limitedRequests(asking, asked, ratePolicy, { limiter, emit })
  // half of the wait: if the process that asks ends, another one that waits has as much time to ask
  const lease = Math.min(requestTimeout, maxWait / 2)
  const shared = share?.(issuing, asked, lease, asked.credentials.initial) ?? issuing
  const source: TokenSource = {
    ...shared,
    obtain: (reason, wait) =>
      askInTurn(asked, wait, () =>
        credentials.use(
          async (client, memory) => notices.note(await shared.obtain(client, reason, wait, memory)),
          reason,
          () => stepTime(wait, requestTimeout),
        ),
      ),
  }
  const token = new RenewingToken(source, { ...asked, emit })
  const status = (): IssuerStatus =>
    defined({
      ...token.status(),
      daysLeft: credentials.daysLeft(),
      contested: contested.isContested() || undefined,
      missingScopes: notices.missingScopes().length > 0 ? notices.missingScopes() : undefined,
    })
  return { credentials, requestTimeout, issuing, token, contested, status }
}
