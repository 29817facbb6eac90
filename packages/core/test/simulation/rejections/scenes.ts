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
  /** So many calls at once every 10 s instead. */
  readonly burst?: number
  /** How long calls come, in seconds: 60 if nothing is said. */
  readonly seconds?: number
  /** The most that is allowed: lost calls in percent, and token requests of one process in any minute. */
  readonly aim?: { readonly lost?: number; readonly requests?: number }
}

const every = (span: number): Pick<Scene, 'revokesEvery'> => ({ revokesEvery: span * 1_000 })

export const scenes: readonly Scene[] = [
  {
    name: 'The API refuses every token, 1,000 calls',
    startsAt: Infinity,
    rate: 1_000 / 60,
    aim: { requests: 6 },
  },
  {
    name: 'The same, 1,000 calls at once',
    startsAt: Infinity,
    burst: 1_000,
    aim: { requests: 6 },
  },
  {
    name: 'The API refuses every token for two minutes while it starts',
    startsAt: 120_000,
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
    name: 'The same with 30 %, one call after the other',
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
    name: 'A new token is refused for 1 s; all are revoked every 20 s',
    refusesNewFor: 1_000,
    ...every(20),
    seconds: 120,
    aim: { lost: 0 },
  },
  {
    name: 'The same for 2 s',
    refusesNewFor: 2_000,
    ...every(20),
    seconds: 120,
  },
  {
    name: 'The same for 5 s',
    refusesNewFor: 5_000,
    ...every(20),
    seconds: 120,
  },
  ...[0.1, 1, 2, 10, 60].map((span) => ({
    name: `All tokens are revoked every ${span} s`,
    revokesEvery: span * 1_000,
    seconds: 120,
    aim: { lost: 0, requests: 61 },
  })),
  {
    name: 'The same every 10 s, 1,000 calls in flight',
    ...every(10),
    burst: 1_000,
    aim: { lost: 0 },
  },
  {
    name: 'The same every 10 s, and one node of four refuses every token',
    ...every(10),
    nodes: 4,
    seconds: 300,
  },
  {
    name: 'The clock of the API lets a token of an hour end after 3 s',
    refusesOldAfter: 3_000,
    aim: { lost: 0 },
  },
  ...(
    [
      [2, 10],
      [3, undefined],
      [8, undefined],
    ] as const
  ).map(([processes, lost]) => ({
    name: `One live token for each client, ${processes} processes`,
    oneLive: true,
    processes,
    seconds: 120,
    aim: { requests: 66, ...(lost !== undefined && { lost }) },
  })),
  {
    name: 'The same, 2 processes, an issuer that takes 0.3 s',
    oneLive: true,
    processes: 2,
    issuerTakes: 300,
    seconds: 120,
  },
  {
    name: 'The same, 8 processes with a store; all are revoked every 20 s',
    oneLive: true,
    processes: 8,
    isShared: true,
    ...every(20),
    aim: { lost: 0, requests: 1 },
  },
]
