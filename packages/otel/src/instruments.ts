// The table of all metrics: the recording code, the documentation, the dashboard and the alerts are made from it.

/** The attributes of a metric. The values come from the configuration and from closed lists, never from a call. */
export type AttributeName =
  | 'tokenlane.issuer'
  | 'tokenlane.api'
  | 'tokenlane.reason'
  | 'tokenlane.client'
  | 'error.type'

/** One metric. */
export interface Instrument {
  readonly kind: 'histogram' | 'counter' | 'gauge'
  /** UCUM: `s` are seconds, `1` is a share, `{call}` counts calls. */
  readonly unit: string
  readonly attributes: readonly AttributeName[]
  readonly description: string
  /** When an operator should look at it, or what its values mean. */
  readonly lookAtIt: string
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

const requestSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const waitSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600]
const lifetimeSeconds = [0, 1, 10, 60, 300, 600, 1_200, 1_800, 2_700, 3_600]

export type HistogramName =
  | 'tokenlane.token.request.duration'
  | 'tokenlane.token.remaining_lifetime'
  | 'tokenlane.queue.wait.duration'
  | 'tokenlane.api.pause.duration'

export type CounterName =
  | 'tokenlane.token.joiners'
  | 'tokenlane.calls'
  | 'tokenlane.call.resends'
  | 'tokenlane.store.failures'
  | 'tokenlane.limiter.failures'

export type GaugeName =
  | 'tokenlane.token.live'
  | 'tokenlane.api.refuses_tokens'
  | 'tokenlane.queue.length'
  | 'tokenlane.queue.running'
  | 'tokenlane.quota.used'
  | 'tokenlane.secret.days_left'
  | 'tokenlane.limiter.fallback'

export type InstrumentName = HistogramName | CounterName | GaugeName

export const instruments: Readonly<Record<InstrumentName, Instrument>> = {
  'tokenlane.token.request.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.issuer', 'tokenlane.reason', 'error.type'],
    description: 'How long a renewal took, by its reason; for a failed one, `error.type` is the error code.',
    lookAtIt: 'Calls are slow or fail: is an issuer slow, down, or refusing the client?',
    buckets: requestSeconds,
  },
  'tokenlane.token.remaining_lifetime': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.issuer'],
    description: 'Remaining lifetime of the token when a call that used it ended.',
    lookAtIt:
      'Low: tokens are used close to expiry, because renewals come too late or `renewBefore` is too short.',
    buckets: lifetimeSeconds,
  },
  'tokenlane.token.joiners': {
    kind: 'counter',
    unit: '{call}',
    attributes: ['tokenlane.issuer', 'tokenlane.reason'],
    description: 'Calls that waited for a renewal; all of them shared one token request.',
    lookAtIt:
      'The number of token requests that sharing saved; a high count for `expired` means that renewals come too late.',
  },
  'tokenlane.token.live': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.issuer'],
    description:
      '1 while there is a live token from the issuer, 0 while there is none or only an expired one.',
    lookAtIt: 'While renewals fail: 1 means that there is still time, 0 that calls fail.',
  },
  'tokenlane.api.refuses_tokens': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api'],
    description: '1 while the API refuses every token, new ones included, otherwise 0.',
    lookAtIt:
      '1: the issuer, its scope or its audience is wrong, or this client is not allowed to call the API.',
  },
  'tokenlane.calls': {
    kind: 'counter',
    unit: '{call}',
    attributes: ['tokenlane.api', 'tokenlane.client', 'error.type'],
    description:
      'Calls that ended; `error.type` is the status that the caller got if 400 or above, or the error code.',
    lookAtIt: 'The basis of every ratio: what share of calls fails, and how.',
  },
  'tokenlane.call.resends': {
    kind: 'counter',
    unit: '{resend}',
    attributes: ['tokenlane.api', 'tokenlane.client', 'tokenlane.reason'],
    description:
      'Requests that were sent again, by reason: the token was refused or replaced, or the rate limit was exceeded.',
    lookAtIt:
      '`rejected` without a revocation: a node of the API refuses tokens. `limited`: the policy allows too much.',
  },
  'tokenlane.queue.wait.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.api'],
    description: 'How long a call waited for a slot, for the rate limit and for the end of a pause.',
    lookAtIt: 'If calls are slow but the API is fast, calls are waiting for the rate policy.',
    buckets: waitSeconds,
  },
  'tokenlane.queue.length': {
    kind: 'gauge',
    unit: '{call}',
    attributes: ['tokenlane.api'],
    description: 'Waiting calls.',
    lookAtIt: 'Growing for minutes: more calls arrive than the policy allows.',
  },
  'tokenlane.queue.running': {
    kind: 'gauge',
    unit: '{call}',
    attributes: ['tokenlane.api'],
    description: 'Calls that hold a slot.',
    lookAtIt:
      'Stuck at `concurrency` while the quota is not used: the API is slow, or there are too few slots.',
  },
  'tokenlane.quota.used': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api'],
    description:
      'Used share of the fullest limit, 0 to 1: by this process, or by all processes with a shared limiter.',
    lookAtIt: 'Stuck at 1: the quota is the bottleneck.',
  },
  'tokenlane.api.pause.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.api'],
    description:
      'How long an API was paused after it refused a call because of its rate limit, or reported that no calls remain.',
    lookAtIt:
      'Any pause: the configured policy exceeds what the API allows, or another process or application uses the quota.',
    buckets: waitSeconds,
  },
  'tokenlane.secret.days_left': {
    kind: 'gauge',
    unit: 'd',
    attributes: ['tokenlane.issuer'],
    description: 'Days until the secret in use must be rotated, if `secretIssuedAt` is known.',
    lookAtIt: 'Under 10: plan the rotation. Under 5: do it.',
  },
  'tokenlane.store.failures': {
    kind: 'counter',
    unit: '{failure}',
    attributes: ['error.type'],
    description: 'How many times the shared token store started to fail.',
    lookAtIt: 'Token requests grow with the number of processes: each requests its own tokens.',
  },
  'tokenlane.limiter.failures': {
    kind: 'counter',
    unit: '{failure}',
    attributes: ['tokenlane.api'],
    description: 'How many times the shared rate budget started to fail.',
    lookAtIt: 'Calls slow down: each process uses only its own share until the budget is back.',
  },
  'tokenlane.limiter.fallback': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api'],
    description:
      '1 while this process uses only its own share because the shared rate budget fails, otherwise 0.',
    lookAtIt: 'Stuck at 1: Redis is down or unreachable for this process.',
  },
}
