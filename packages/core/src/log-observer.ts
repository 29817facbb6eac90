import type { NamedLimit, Observer, TokenlaneEvent } from './events.ts'
import { printable } from './foreign-text.ts'
import { builtinModule } from './runtime/builtin-module.ts'

/** What pino, winston, `console` and most loggers have. */
export interface Logger {
  debug?(line: string): unknown
  info(line: string): unknown
  warn(line: string): unknown
  error(line: string): unknown
}

/** In characters: reasons of others are part of a line. */
const longestLine = 2_000

/** From least to most urgent. */
type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * Returns an observer that writes one line in plain words for each event, at the level that fits: `error` while calls
 * cannot be sent, `warn` for what needs attention, `info` for finished work, `debug` for single calls. A failure that goes
 * on as it was gets a short line.
 *
 * @param logger A pino, winston or bunyan logger, `console`, or anything with their four methods.
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, observe: logObserver(console) })
 * ```
 */
export function logObserver(logger: Logger): Observer {
  const describe = describer()
  return (event) => {
    logger[levelOf(event)]?.(describe(event))
  }
}

/**
 * Returns an observer that prints every event to standard error where the process runs with `NODE_DEBUG=tokenlane`,
 * `undefined` where it does not.
 *
 * @see https://nodejs.org/api/util.html#utildebuglogsection-callback
 */
export function nodeDebugObserver(): Observer | undefined {
  // Cloudflare Workers print for every section, whatever the environment says
  if (!globalThis.process?.env?.['NODE_DEBUG']) return undefined
  const util = builtinModule('node:util') as { debuglog?: (section: string) => DebugLog } | undefined
  const log = util?.debuglog?.('tokenlane')
  if (log?.enabled !== true) return undefined
  const describe = describer()
  return (event) => log('%s', describe(event))
}

interface DebugLog {
  (format: string, line: string): void
  readonly enabled: boolean
}

type EventType = TokenlaneEvent['type']
type EventOf<Type extends EventType> = Extract<TokenlaneEvent, { readonly type: Type }>

/** For each type of event: how urgent it is, and its line. */
type Lines = {
  readonly [Type in EventType]: readonly [
    level: LogLevel | ((event: EventOf<Type>) => LogLevel),
    line: (event: EventOf<Type>) => string,
  ]
}

const lines: Lines = {
  'token.renewed': [
    'info',
    ({ issuer, reason, duration, joiners }) =>
      `${issuer}: new token (${reason}) in ${ms(duration)}, ${calls(joiners)} waited`,
  ],
  'token.received': ['info', ({ issuer }) => `${issuer}: new token from the shared store`],
  'renewal.failed': [
    ({ tokenStillValid }) => (tokenStillValid ? 'warn' : 'error'),
    ({ issuer, code, reason, retryIn, tokenStillValid }) =>
      `${issuer}: no new token (${code}): ${reason}; ${untilNextTry(retryIn, tokenStillValid)}`,
  ],
  'token.rejected': [
    'warn',
    ({ issuer, api }) => `${api}: the API refused the token of ${issuer}, which is renewed`,
  ],
  'rejection.repeated': [
    'error',
    ({ issuer, api, option }) =>
      `${api}: the API refuses new tokens of ${issuer}, too: is ${option} the issuer of this API, do \`scope\` and ` +
      `\`parameters\` of issuers.${issuer} ask for what the API wants, and may this client call it?`,
  ],
  'call.queued': [
    'debug',
    ({ api, queued, emptyIn }) => `${api}: a call waits, ${queued} in the queue, empty in ${ms(emptyIn)}`,
  ],
  'call.sent': [
    'debug',
    ({ api, waited, queued }) => `${api}: a call goes after ${ms(waited)}, ${queued} in the queue`,
  ],
  'call.finished': ['debug', finished],
  'route.missed': [
    'warn',
    ({ origin, path, apis }) =>
      `${origin}${path}: outside of every API, so its calls get no token; APIs of this origin: ${apis.join(', ')}`,
  ],
  'api.paused': [
    'warn',
    ({ api, for: span, status, reason }) =>
      `${api}: paused for ${ms(span)} after status ${status}${reason === 'used-up' ? ', nothing remains of its limit' : ''}`,
  ],
  'policy.differs': [
    'warn',
    ({ api, configured, seen }) =>
      `${api}: its headers name the limits ${limits(seen)}; configured: ${limits(configured)}`,
  ],
  'store.failed': [
    'warn',
    ({ reason }) => `token store: failed (${reason}); this process requests its own tokens`,
  ],
  'store.recovered': ['info', () => 'token store: works again'],
  'limiter.failed': [
    'warn',
    ({ api, reason }) =>
      `${api}: the shared rate budget failed (${reason}); this process keeps to its own share`,
  ],
  'limiter.recovered': ['info', ({ api }) => `${api}: the rate budget is shared again`],
  'secret.expiring': [
    ({ threshold }) => (threshold === 0 ? 'error' : 'warn'),
    ({ issuer, clientId, daysLeft }) =>
      `${issuer}: the secret of client ${clientId} must be rotated, ${days(daysLeft)}`,
  ],
  'credentials.rotated': [
    'info',
    ({ issuer, clientId }) => `${issuer}: now uses other credentials of client ${clientId}`,
  ],
}

/** Returns how urgent an event is. */
function levelOf<Type extends EventType>(event: EventOf<Type>): LogLevel {
  const [level] = lines[event.type]
  return typeof level === 'function' ? level(event) : level
}

/** Returns an event as one line in plain words, without a line break and without a secret. */
export function describeEvent(event: TokenlaneEvent): string {
  return printable(lineOf(event), longestLine)
}

/**
 * Returns what describes one event after the other as `describeEvent` does, but a failure that goes on as it was shortly.
 */
function describer(): (event: TokenlaneEvent) => string {
  const failing = new Map<string, { readonly reason: string; readonly tries: number }>()
  return (event) => {
    if (event.type !== 'renewal.failed' && event.type !== 'token.renewed' && event.type !== 'token.received')
      return describeEvent(event)
    const { issuer } = event
    const key = JSON.stringify([event.tenant, issuer])
    const before = failing.get(key)
    failing.delete(key)
    if (event.type !== 'renewal.failed') return describeEvent(event)
    const { reason, retryIn, tokenStillValid } = event
    const tries = before?.reason === reason ? before.tries + 1 : 1
    failing.set(key, { reason, tries })
    if (tries === 1) return describeEvent(event)
    return printable(`${issuer}: still failing, try ${tries}; ${untilNextTry(retryIn, tokenStillValid)}`)
  }
}

function untilNextTry(retryIn: number, tokenStillValid: boolean): string {
  const until = tokenStillValid ? 'calls still use the old token' : 'until then calls wait or fail'
  return `next try in ${ms(retryIn)} at the earliest, ${until}`
}

function lineOf<Type extends EventType>(event: EventOf<Type>): string {
  const [, line] = lines[event.type]
  return line(event)
}

function finished({
  api,
  issuer,
  client,
  status,
  code,
  sends,
  resends,
  duration,
}: EventOf<'call.finished'>): string {
  const outcome = status === undefined ? `failed (${code})` : `status ${status}`
  const times = resends.length === 0 ? '' : `, sent ${sends} times (${resends.join(', ')})`
  const isForeign = status === 401 && resends.includes('rejected')
  const guess = isForeign ? `: the API refuses new tokens of ${issuer}, too; is it another issuer's?` : ''
  return `${api}: a call${client === undefined ? '' : ` of ${client}`} ended in ${ms(duration)}: ${outcome}${times}${guess}`
}

function limits(all: readonly NamedLimit[]): string {
  return all.map(({ quota, window }) => `${quota} in ${ms(window)}`).join(', ') || 'none'
}

function ms(span: number): string {
  return span < 1_000 ? `${Math.round(span)} ms` : `${(span / 1_000).toFixed(1)} s`
}

function calls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`
}

function days(left: number): string {
  if (left === 0) return 'its lifetime is over'
  return left === 1 ? '1 day left' : `${left} days left`
}
