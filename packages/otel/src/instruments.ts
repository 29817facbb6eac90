// The table of all metrics: the recording code, the documentation, the dashboard and the alerts are made from it.

/** The attributes of a metric. The values come from the configuration and from closed lists, never from a call. */
export type AttributeName =
  | 'tokenlane.issuer'
  | 'tokenlane.api'
  | 'tokenlane.reason'
  | 'tokenlane.client'
  | 'tokenlane.limit'
  | 'error.type'

export interface Instrument {
  readonly kind: 'histogram' | 'counter' | 'gauge'
  /** In UCUM: `s` for seconds, `d` for days, `1` for a share or a flag, `{call}` for a number of calls. */
  readonly unit: string
  readonly attributes: readonly AttributeName[]
  readonly description: string
  /** When an operator should look at it, or what its values mean. */
  readonly lookAtIt: string
  /** The upper bounds of a histogram's buckets. */
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
  | 'tokenlane.limit.used'
  | 'tokenlane.secret.days_left'
  | 'tokenlane.limiter.fallback'

export type InstrumentName = HistogramName | CounterName | GaugeName

export const instruments: Readonly<Record<InstrumentName, Instrument>> = {
  'tokenlane.token.request.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.issuer', 'tokenlane.reason', 'error.type'],
    description:
      'How long a token request took, by its reason. If it failed, `error.type` is the error code.',
    lookAtIt:
      'If calls are slow or fail, this shows whether an issuer is slow, down, or refusing the client.',
    buckets: requestSeconds,
  },
  'tokenlane.token.remaining_lifetime': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.issuer'],
    description: "Remaining lifetime of a call's token when the call was last sent.",
    lookAtIt:
      'If it is low, tokens are used close to expiry: renewals come too late, or `renewBefore` is too short.',
    buckets: lifetimeSeconds,
  },
  'tokenlane.token.joiners': {
    kind: 'counter',
    unit: '{call}',
    attributes: ['tokenlane.issuer', 'tokenlane.reason'],
    description: 'Calls that waited for a renewal and shared its token request.',
    lookAtIt:
      'Without sharing, each of them would send its own token request. A high count for `expired` means that renewals come too late.',
  },
  'tokenlane.token.live': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.issuer'],
    description: '1 while there is a live token from the issuer, 0 while there is none or it has expired.',
    lookAtIt: 'While renewals fail, 1 means that calls still work, and 0 means that they fail.',
  },
  'tokenlane.api.refuses_tokens': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api'],
    description: '1 while the API refuses every token, even new ones, otherwise 0.',
    lookAtIt:
      'If it is 1, the issuer, its scope or its audience is wrong, or this client is not allowed to call the API.',
  },
  'tokenlane.calls': {
    kind: 'counter',
    unit: '{call}',
    attributes: ['tokenlane.api', 'tokenlane.client', 'error.type'],
    description:
      'Calls that ended. If a call failed, `error.type` is the error code, or the HTTP status if it is 400 or above.',
    lookAtIt: 'This shows what share of calls fails, and why.',
  },
  'tokenlane.call.resends': {
    kind: 'counter',
    unit: '{resend}',
    attributes: ['tokenlane.api', 'tokenlane.client', 'tokenlane.reason'],
    description:
      'Requests that were sent again, by reason: the token was refused or replaced, or the rate limit was exceeded.',
    lookAtIt:
      "`rejected` without a revocation means that one of the API's nodes refuses tokens. `limited` means that the policy allows too much.",
  },
  'tokenlane.queue.wait.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.api'],
    description: 'How long a call waited for a slot, the rate limit and the end of a pause, in total.',
    lookAtIt: 'If calls are slow but the API is fast, this shows how much the rate policy delays them.',
    buckets: waitSeconds,
  },
  'tokenlane.queue.length': {
    kind: 'gauge',
    unit: '{call}',
    attributes: ['tokenlane.api'],
    description: 'Calls in the queue.',
    lookAtIt: 'If it grows for minutes, more calls arrive than the policy allows.',
  },
  'tokenlane.queue.running': {
    kind: 'gauge',
    unit: '{call}',
    attributes: ['tokenlane.api'],
    description: 'Calls that hold a slot.',
    lookAtIt:
      'If it stays at `concurrency` while some of the quota is unused, the API is slow, or there are too few slots.',
  },
  'tokenlane.quota.used': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api'],
    description:
      'Used share of the fullest limit, 0 to 1. With a shared limiter, this includes the calls of all processes.',
    lookAtIt: 'If it stays at 1, the quota is the bottleneck.',
  },
  'tokenlane.limit.used': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api', 'tokenlane.limit'],
    description:
      'Used share of a limit that has a name in the rate policy, 0 to 1. Of a limit for each value of a path: of the value that has used most.',
    lookAtIt: 'Where calls wait, this shows which limit they wait for.',
  },
  'tokenlane.api.pause.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['tokenlane.api'],
    description:
      'How long an API was paused after it refused a call because of its rate limit, or reported that no calls remain.',
    lookAtIt:
      'A pause means that the configured policy exceeds what the API allows, or that another process or application uses the quota.',
    buckets: waitSeconds,
  },
  'tokenlane.secret.days_left': {
    kind: 'gauge',
    unit: 'd',
    attributes: ['tokenlane.issuer'],
    description: 'Days until the secret in use must be rotated, if `secretIssuedAt` is known.',
    lookAtIt: 'At 10 or less, plan the rotation. At 5 or less, rotate it now.',
  },
  'tokenlane.store.failures': {
    kind: 'counter',
    unit: '{failure}',
    attributes: ['error.type'],
    description: 'How many times the shared token store started to fail.',
    lookAtIt: 'While the store fails, each process requests its own tokens.',
  },
  'tokenlane.limiter.failures': {
    kind: 'counter',
    unit: '{failure}',
    attributes: ['tokenlane.api'],
    description: 'How many times the shared rate budget started to fail.',
    lookAtIt:
      'Until the budget works again, each process uses only its own share of the quota, so calls slow down.',
  },
  'tokenlane.limiter.fallback': {
    kind: 'gauge',
    unit: '1',
    attributes: ['tokenlane.api'],
    description:
      '1 while this process uses only its own share of the quota because the shared rate budget fails, otherwise 0.',
    lookAtIt: 'If it stays at 1, Redis is down, or this process cannot reach it.',
  },
}
