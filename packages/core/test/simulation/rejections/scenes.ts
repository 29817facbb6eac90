import type { Manner } from './refusing-service.ts'

/** What happens to a service, who calls it, and what must come of it. */
export interface Scene extends Manner {
  readonly name: string
  /** How many processes call it, each with a manager of its own. */
  readonly processes?: number
  /** Whether these share their tokens by a store. */
  readonly isShared?: boolean
  /** Calls of each process in a second, 20 if nothing is said; 0: one after the other. */
  readonly rate?: number
  /** How far the wall clock of the processes is ahead of the issuer's and the API's, in milliseconds. */
  readonly wallAhead?: number
  /** So many calls at once every 10 s instead. */
  readonly burst?: number
  /** How long calls come, in seconds: 60 if nothing is said. */
  readonly seconds?: number
  /** The most that is allowed: lost calls in percent, and token requests of one process in any minute. */
  readonly aim?: { readonly lost?: number; readonly requests?: number }
}

/** In milliseconds. */
const minute = 60_000

export const scenes: readonly Scene[] = [
  {
    name: 'The API refuses every token, 1,000 calls',
    startsAt: Infinity,
    rate: 1_000 / 60,
    aim: { requests: 6 },
  },
  {
    name: 'The API refuses every token, 1,000 calls at once',
    startsAt: Infinity,
    burst: 1_000,
    aim: { requests: 6 },
  },
  {
    name: 'The API refuses every token for two minutes while it starts',
    startsAt: 2 * minute,
    seconds: 180,
    aim: { lost: 67, requests: 6 },
  },
  ...(
    [
      [1, undefined],
      [10, 1.5],
      [30, 10],
      [50, 27],
    ] as const
  ).map(([share, lost]) => ({
    name: `The API refuses ${share} % of its calls at random`,
    refusesAtRandom: share / 100,
    seconds: 300,
    aim: lost === undefined ? {} : { lost },
  })),
  {
    name: 'The API refuses 30 % of its calls at random, sequential calls',
    refusesAtRandom: 0.3,
    rate: 0,
    seconds: 300,
  },
  {
    name: 'One node of four refuses every token',
    nodes: 4,
    seconds: 300,
    aim: { lost: 7 },
  },
  {
    name: 'One endpoint of four refuses every token',
    endpoints: 4,
    seconds: 300,
    aim: { lost: 25.1 },
  },
  {
    name: 'Two APIs configured with each other’s issuer',
    wrongIssuers: 'both',
    aim: { requests: 6 },
  },
  {
    name: 'Two APIs configured with the first one’s issuer',
    wrongIssuers: 'one',
    aim: { lost: 50.1, requests: 6 },
  },
  ...(
    [
      [0.1, 0.5],
      [0.5, 0.5],
      [1, 0.5],
      [2, undefined],
      [5, undefined],
    ] as const
  ).map(([span, lost]) => ({
    name: `A new token is refused for ${span} s; all are revoked every 20 s`,
    refusesNewFor: span * 1_000,
    revokesEvery: 20_000,
    seconds: 120,
    aim: lost === undefined ? {} : { lost },
  })),
  ...(
    [
      [0.1, undefined],
      [0.97, undefined],
      [1, 3],
      [2, 0],
      [10, 0],
      [60, 0],
    ] as const
  ).map(([span, lost]) => ({
    name: `All tokens are revoked every ${span} s`,
    revokesEvery: span * 1_000,
    seconds: 120,
    aim: { requests: 61, ...(lost !== undefined && { lost }) },
  })),
  {
    name: 'All tokens are revoked every 10 s, 1,000 calls in flight',
    revokesEvery: 10_000,
    burst: 1_000,
    aim: { lost: 0 },
  },
  {
    name: 'Tokens revoked every 10 s; one node of four refuses every token',
    revokesEvery: 10_000,
    nodes: 4,
    seconds: 300,
  },
  {
    name: 'The API’s clock makes an hour-long token expire after 3 s',
    refusesOldAfter: 3_000,
    aim: { lost: 0 },
  },
  {
    name: 'Tokens live 1 min; the API’s clock is 50 s fast: they expire after 10 s',
    lifetime: minute,
    refusesOldAfter: 10_000,
    seconds: 180,
    aim: { lost: 0, requests: 7 },
  },
  {
    name: 'Tokens live 1 min; the API’s clock is 2 min fast: it refuses all',
    lifetime: minute,
    refusesOldAfter: 0,
    seconds: 180,
    aim: { requests: 6 },
  },
  {
    name: 'Tokens live 1 min; the API’s clock is 1 s slow: it refuses new ones',
    lifetime: minute,
    refusesNewFor: 1_000,
    refusesOldAfter: minute + 1_000,
    seconds: 180,
    aim: { lost: 0.1, requests: 4 },
  },
  {
    name: 'Tokens live 1 min; the API’s clock is 5 min slow: expired ones pass',
    lifetime: minute,
    refusesOldAfter: 6 * minute,
    seconds: 180,
    aim: { lost: 0, requests: 2 },
  },
  ...(['ahead', 'behind'] as const).map((side) => ({
    name: `Tokens live 1 min; the client’s clock is an hour ${side}`,
    lifetime: minute,
    refusesOldAfter: minute,
    wallAhead: side === 'behind' ? -60 * minute : 60 * minute,
    seconds: 180,
    aim: { lost: 0, requests: 2 },
  })),
  ...(
    [
      [2, 10],
      [3, undefined],
      [8, undefined],
    ] as const
  ).map(([processes, lost]) => ({
    name: `One live token, ${processes} processes`,
    oneLive: true,
    processes,
    seconds: 120,
    aim: { requests: 66, ...(lost !== undefined && { lost }) },
  })),
  {
    name: 'One live token, 2 processes, an issuer that takes 0.3 s',
    oneLive: true,
    processes: 2,
    issuerTakes: 300,
    seconds: 120,
  },
  ...(
    [
      [2, 3],
      [8, 1],
    ] as const
  ).map(([processes, requests]) => ({
    name: `One live token, ${processes} processes with a store; all are revoked every 20 s`,
    oneLive: true,
    processes,
    isShared: true,
    revokesEvery: 20_000,
    aim: { lost: 0, requests },
  })),
  ...(
    [
      { what: 'The API’s clock is 1 s behind', clockBehind: 1_000 },
      { what: 'The API’s clock is 4 s behind', clockBehind: 4_000 },
      { what: 'The API’s clock is 30 s behind', clockBehind: 30_000 },
      { what: 'The API learns of a new signing key after 20 s', refusesNewFor: 20_000, newKeyEvery: 150_000 },
      {
        what: 'The API learns of a new signing key after 10 min',
        refusesNewFor: 10 * minute,
        newKeyEvery: 60 * minute,
      },
      { what: 'Four replicas learn of a new token within 5 s', refusesNewFor: 5_000, replicas: 4 },
      {
        what: 'Two replicas, one of which learns of a new token after 45 s',
        refusesNewFor: 45_000,
        replicas: 2,
      },
    ] as const
  ).flatMap(({ what, ...manner }): Scene[] => {
    const span = 'clockBehind' in manner ? manner.clockBehind : manner.refusesNewFor
    const isLong = span > minute
    const lifetime = isLong ? 60 * minute : 3 * minute
    return [
      {
        ...manner,
        name: `${what}: renewals ahead of expiry`,
        knowsFirst: true,
        lifetime,
        renewBefore: lifetime / 3,
        refusesOldAfter: lifetime + span,
        ...(isLong && { rate: 2 }),
        seconds: (3 * lifetime) / 1_000,
        aim: { lost: 0, requests: 2 },
      },
      {
        ...manner,
        name: `${what}: a revocation`,
        knowsFirst: true,
        revokesEvery: 20 * minute,
        ...('newKeyEvery' in manner && { newKeyEvery: 20 * minute }),
        ...(isLong && { rate: 2 }),
        seconds: isLong ? 40 * 60 : 25 * 60,
      },
      {
        ...manner,
        name: `${what}: the first token of a process`,
        ...(isLong && { rate: 2 }),
        seconds: isLong ? 20 * 60 : 120,
        // nothing but what is called until a second before the clock reaches the token
        ...('clockBehind' in manner && { aim: { lost: Math.ceil((span - 1_000) / 1_200), requests: 1 } }),
      },
    ]
  }),
]
