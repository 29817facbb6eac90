import type { NamedLimit, Observer, RenewalReason, TokenlaneEvent } from './events.ts'
import { printable } from './foreign-text.ts'
import { withoutEffect } from './runtime/without-effect.ts'
import { allOf, refuse, shape } from './options/check.ts'
import { flag, object, optional } from './options/reader.ts'
import { builtinModule } from './runtime/builtin-module.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

const otherNames: Readonly<Partial<Record<Level, string>>> = { info: 'log', warn: 'warning' }

type WithLevel<Name extends string> = Readonly<Record<Name, (line: string) => unknown>>

/**
 * The methods that pino, winston, `console` and most loggers have. Some say `log` for `info`, as NestJS's, or `warning`
 * for `warn`, as winston's with syslog levels. A method may be asynchronous; a line that it fails to write is lost.
 */
export type Logger = WithLevel<'error'> &
  (WithLevel<'info'> | WithLevel<'log'>) &
  (WithLevel<'warn'> | WithLevel<'warning'>) & { debug?(line: string): unknown }

/** What a log shows. */
export interface LogOptions {
  /**
   * Whether each call gets lines, at the level `debug`: when it is queued, sent and finished.
   *
   * @defaultValue false
   */
  readonly calls?: boolean | undefined
}

/**
 * Returns an observer that writes one line in plain words for each event, at a fitting level: `error` while calls
 * cannot be sent, `warn` for what needs attention, `info` for finished work, `debug` for individual calls. A failure
 * that repeats for the same reason gets a short line, except every hundredth time.
 *
 * @param logger A pino, winston, bunyan or NestJS logger, `console`, or anything with their methods.
 * @throws TokenlaneError `INVALID_OPTIONS` for anything else.
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, observe: logObserver(console) })
 * ```
 */
export function logObserver(logger: Logger, options: LogOptions = {}): Observer {
  const { calls } = object<Required<LogOptions>>({ calls: optional(flag, false) })(options, 'options')
  const methods = logger as Readonly<Partial<Record<string, (line: string) => unknown>>> | undefined
  const nameOf = (level: Level): string =>
    typeof methods?.[level] === 'function' ? level : (otherNames[level] ?? level)
  allOf(['info', 'warn', 'error'] as const, (level) => {
    if (typeof methods?.[nameOf(level)] !== 'function')
      refuse(`logger.${level}`, shape(methods?.[level]), `a method, like \`console.${level}\``)
  })
  return (event) => {
    if (!calls && isCall(event)) return
    withoutEffect(() => methods?.[nameOf(levelOf(event))]?.(describeEvent(event)))
  }
}

/**
 * Returns an observer that prints to standard error with `NODE_DEBUG=tokenlane` (`util.debuglog`), else none. Calls have a
 * section of their own, `tokenlane-calls`: `NODE_DEBUG=tokenlane*` prints both.
 */
export function nodeDebugObserver(): readonly Observer[] {
  // Cloudflare Workers print for every section, whatever the environment says
  if (!globalThis.process?.env?.['NODE_DEBUG']) return []
  const util = builtinModule('node:util') as Partial<typeof import('node:util')> | undefined
  const log = util?.debuglog?.('tokenlane')
  const logCall = util?.debuglog?.('tokenlane-calls')
  if (log?.enabled !== true && logCall?.enabled !== true) return []
  return [(event) => isBurst(event) || (isCall(event) ? logCall : log)?.('%s', describeEvent(event))]
}

/** Of thousands of calls queued at once, only the 1st, 10th, 100th and so on are shown. */
function isBurst(event: TokenlaneEvent): boolean {
  return event.type === 'call.queued' && !/^10*$/.test(`${event.queued}`)
}

type EventType = TokenlaneEvent['type']
type EventOf<Type extends EventType> = Extract<TokenlaneEvent, { readonly type: Type }>

const goodNews = new Set<EventType>([
  'token.renewed',
  'token.received',
  'store.recovered',
  'limiter.recovered',
  'rejection.ended',
  'credentials.rotated',
])

const isCall = ({ type }: TokenlaneEvent): boolean => type.startsWith('call.')

function levelOf(event: TokenlaneEvent): Level {
  if (isCall(event)) return 'debug'
  if (goodNews.has(event.type)) return 'info'
  const isOver = event.type === 'secret.expiring' && event.threshold === 0
  const isOut = event.type === 'renewal.failed' && !event.tokenStillValid
  return isOver || isOut || event.type === 'rejection.repeated' ? 'error' : 'warn'
}

const lines: { readonly [Type in EventType]: (event: EventOf<Type>) => string } = {
  'token.renewed': ({ issuer, reason, duration, joiners, outage }) =>
    `${issuer}: new token${occasions[reason]} in ${ms(duration)}, ${counted(joiners, 'call')} waited` +
    (outage === undefined
      ? ''
      : `; the issuer works again after ${ms(outage.duration)} (failed tries: ${outage.failedTries})`),
  'token.received': ({ issuer }) => `${issuer}: new token from the shared store`,
  'scope.narrowed': ({ issuer, missing }) =>
    `${issuer}: the issuer did not grant ${missing.join(' ')}: check \`scope\` and what this client may ask for`,
  'token.unusual': ({ issuer, oddities }) =>
    `${issuer}: the token response has ${oddities.join(', ')}; its token is used`,
  'renewal.failed': (event) => {
    const { issuer, code, reason, repeats } = event
    const short = repeats > 0 ? `${causeOf(event)}, try ${repeats + 1}` : ''
    const why = repeats % 100 > 0 ? '' : `: ${reason}`
    return `${issuer}: no new token (${code}${short})${why}; ${untilNextTry(event)}`
  },
  'token.rejected': ({ issuer, api }) => `${api}: the API refused a token from ${issuer}; renewing it`,
  'rejection.repeated': ({ issuer, api, option, clockBehind }) => {
    const check = `check ${option}, \`scope\`, \`parameters\` and what this client may call`
    const why = clockBehind ? "its clock is behind the issuer's" : check
    return `${api}: the API also refuses new tokens from ${issuer}: ${why}`
  },
  'rejection.ended': ({ issuer, api }) => `${api}: works again, the API accepts tokens from ${issuer}`,
  'token.contested': ({ issuer, api }) =>
    `${api}: tokens from ${issuer} are accepted, then refused within 1 s: if other processes use this client, share its token (\`store\`)`,
  'call.queued': ({ api, queued, emptyIn }) =>
    // a shared limiter that does not reach its server cannot tell, and 0 is its lower bound
    `${api}: call queued, ${queued} in the queue${emptyIn > 0 ? `, empty in about ${ms(emptyIn)}` : ''}`,
  'call.sent': ({ api, waited, queued }) => `${api}: call sent after ${ms(waited)}, ${queued} in the queue`,
  'call.finished': finished,
  'route.missed': ({ origin, path, by, apis }) =>
    by === undefined
      ? `${origin}${path}: matches no API and gets no token; APIs on the same origin: ${apis.join(', ')}`
      : `${origin}: differs in its ${by} from ${apis.join(', ')}, so its calls get no token`,
  'api.paused': ({ api, for: span, status, reason, allows, configured }) =>
    `${api}: paused for ${ms(span)} after status ${status}` +
    (reason === 'used-up' ? '; its limit is used up' : '') +
    (allows && configured
      ? `; the API allows only about ${limits(allows)} (\`ratePolicy\`: ${limits(configured)}), or something else uses the quota`
      : ''),
  'api.slowed': ({ api, share, option }) =>
    `${api}: with slow responses, waiting calls get ${share} of the quota; \`${option}\` in its ratePolicy gives more`,
  'slots.blocked': ({ api, running, queued }) =>
    `${api}: none of ${running} calls under way (\`concurrency\`) has ended for 10 s, and ${queued} wait: set a timeout, and read each response to its end`,
  'authorization.kept': ({ api }) =>
    `${api}: answered 401 to a call that brings an \`Authorization\` of its own, so it gets no token: remove that header`,
  'client.unattached': ({ api }) =>
    `${api}: answered 401 to a call without a token: attach tokens to the client that made it, unless a redirect led there`,
  'transport.insecure': ({ issuer, hosts }) =>
    `${issuer}: \`allowInsecureHosts\` allows http: to ${hosts.join(', ')}, unsafe for secrets and tokens`,
  'policy.missing': ({ api }) =>
    `${api}: refused a call with status 429 and has no rate policy: with a \`ratePolicy\`, calls wait for their turn`,
  'policy.differs': ({ api, configured, seen }) =>
    `${api}: its headers report ${limits(seen)}; configured: ${limits(configured)}`,
  'store.failed': ({ reason }) =>
    `token store: failed (${reason}); this process requests its own tokens${unopened(reason)}`,
  'store.recovered': () => 'token store: works again',
  'limiter.failed': ({ api, reason }) =>
    `${api}: the shared rate budget failed (${reason}); this process uses only its own share${unopened(reason)}`,
  'limiter.recovered': ({ api }) => `${api}: the rate budget is shared again`,
  'secret.expiring': ({ issuer, clientId, daysLeft }) =>
    `${issuer}: rotate the secret of client ${clientId}: ` +
    (daysLeft === 0 ? 'it has expired' : `${counted(daysLeft, 'day')} left`),
  'credentials.rotated': ({ issuer, clientId }) =>
    `${issuer}: now uses different credentials (client ${clientId})`,
}

/** Returns an event as one line in plain words, without a line break and without a secret. */
export function describeEvent(event: TokenlaneEvent): string {
  const lineOf = lines[event.type] as (event: TokenlaneEvent) => string
  // reasons of others are part of a line
  return printable(lineOf(event), 2_000)
}

const occasions: Readonly<Record<RenewalReason, string>> = {
  startup: '',
  ahead: ' before expiry',
  expired: ' after expiry',
  rejected: ' after a 401',
}

/** Returns a question about a client of a store or limiter that was never opened, or closed too early. */
function unopened(reason: string): string {
  return reason === 'CLIENT_CLOSED_ERROR' ? ': was `connect()` of its client called?' : ''
}

/** Returns the shortest cause of a failed try, to stand in each line of a run. */
function causeOf({ oauthError, transportCode, status }: EventOf<'renewal.failed'>): string {
  const cause = oauthError ?? transportCode ?? (status === undefined ? undefined : `status ${status}`)
  return cause === undefined ? '' : `: ${cause}`
}

function untilNextTry({ retryIn, tokenStillValid, failFast, maxWait }: EventOf<'renewal.failed'>): string {
  const outage =
    failFast || maxWait === undefined ? 'calls fail until then' : `calls wait up to ${ms(maxWait)}`
  const meanwhile = tokenStillValid ? 'calls use the old token until it expires' : outage
  return `retrying in ${ms(retryIn)} at the earliest; ${meanwhile}`
}

function finished(event: EventOf<'call.finished'>): string {
  const { api, client, method, path, status, code, sends, resends, duration } = event
  const call = [client, 'call', method, path].filter((part) => part !== undefined).join(' ')
  const outcome = status === undefined ? 'failed' : 'finished'
  const how = status === undefined ? ` (${code})` : ` with status ${status}`
  const times = resends.length === 0 ? '' : `, sent ${sends} times (${resends.join(', ')})`
  return `${api}: ${call} ${outcome} after ${ms(duration)}${how}${times}`
}

function limits(all: readonly NamedLimit[]): string {
  return all.map((limit) => limitText(limit)).join(', ') || 'none'
}

function limitText({ quota, window, name, match }: NamedLimit): string {
  const span = typeof window === 'number' ? ms(window) : `a ${window}`
  const which = name ?? (match === undefined ? '' : [match].flat().join(', '))
  return `${quota} in ${span}${which && ` (${which})`}`
}

function ms(span: number): string {
  return span < 999.5 ? `${Math.round(span)} ms` : `${(span / 1_000).toFixed(1).replace('.0', '')} s`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
