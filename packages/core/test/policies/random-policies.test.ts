import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Limit, RatePolicy } from '../../src/index.ts'
import { callStrictly, type Rule, type Sent } from './strict-server.ts'

const windows = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const
const paths = ['/a', '/b', '/a/1', '/a/2']
const matches = [undefined, 'GET', 'POST /a', '/a/*', '/a/:id', ['POST', '/b']] as const

const doesMatch = (match: (typeof matches)[number], { method, path }: Sent): boolean => {
  if (match === undefined) return true
  if (match === 'GET') return method === 'GET'
  if (match === 'POST /a') return method === 'POST' && path === '/a'
  if (typeof match === 'string') return path.startsWith('/a/')
  return method === 'POST' || path === '/b'
}

const limits = fc.record({
  quota: fc.integer({ min: 5, max: 60 }),
  window: fc.oneof(fc.integer({ min: 500, max: 20_000 }), fc.constantFrom('second', 'minute', 'hour')),
  match: fc.constantFrom(...matches),
  isNamed: fc.boolean(),
})

/** The rule of a server that enforces a limit: one that slides also where the policy names a window of the calendar, if it is the stricter. */
function ruleOf({ quota, window, match }: Limit, costOf: (call: Sent) => number): Rule {
  const shared = {
    of: (call: Sent) => doesMatch(match as (typeof matches)[number], call),
    key: ({ path }: Sent) => (match === '/a/:id' ? path : ''),
    cost: costOf,
  }
  return typeof window === 'number'
    ? { ...shared, sliding: quota, window }
    : { ...shared, fixed: quota, window: windows[window as keyof typeof windows] }
}

const calls = fc.array(
  fc.record({
    path: fc.constantFrom(...paths),
    isWrite: fc.boolean(),
    cost: fc.integer({ min: 1, max: 4 }),
    priority: fc.integer({ min: -3, max: 3 }),
    takes: fc.option(fc.integer({ min: 0, max: 8 })),
  }),
  { minLength: 1, maxLength: 6 },
)

const policies = fc.record({
  all: fc.array(limits, { minLength: 1, maxLength: 3 }),
  calls,
  spread: fc.boolean(),
  isCosted: fc.boolean(),
  aging: fc.option(fc.integer({ min: 1, max: 20_000 })),
  /** Each call of so many is refused, and counts or not. */
  refusesEach: fc.option(fc.integer({ min: 15, max: 60 })),
  countsRefused: fc.boolean(),
  ahead: fc.integer({ min: -600_000, max: 600_000 }),
})

test('whatever the limits, what counts, what calls cost before and after, and what is refused: a server that enforces them is never over', async () => {
  await fc.assert(
    fc.asyncProperty(
      policies,
      async ({ all, calls: given, spread, isCosted, aging, refusesEach, countsRefused, ahead }) => {
        const costOf = ({ cost = 1 }: Sent): number => (isCosted ? cost : 1)
        const sent = given.map(({ path, isWrite, cost, priority, takes }): Sent => {
          const call = { method: isWrite ? 'POST' : 'GET', path, priority }
          return isCosted ? { ...call, cost, takes: takes ?? undefined } : call
        })
        // what a call takes beyond its cost is known only once it has been answered
        const isLate = sent.some((call) => (call.takes ?? 0) > costOf(call))
        const named = all.map(({ isNamed, ...limit }, index) =>
          isNamed ? Object.assign(limit, { name: `limit ${index}` }) : limit,
        )
        const policy: RatePolicy = {
          limits: named,
          spread,
          countsRefused,
          aging: aging ?? undefined,
          concurrency: isLate ? 1 : undefined,
          actualCost: ({ header }) => (header('x-took') === undefined ? undefined : Number(header('x-took'))),
        }
        const { over, lost, errors, overtaken } = await callStrictly(policy, {
          rules: policy.limits.map((limit) => ruleOf(limit, costOf)),
          call: (index) => sent[index % sent.length] as Sent,
          callers: 30,
          seconds: 30,
          headers: ({ call: { takes } }): Record<string, string> =>
            takes === undefined ? {} : { 'x-took': String(takes) },
          refusesEach: refusesEach ?? Infinity,
          refusal: { headers: { 'retry-after': '1' } },
          countsRefused,
          ahead,
        })
        const areAlike = !isCosted && all.every(({ match }) => match === undefined)
        expect({ over, lost, errors, overtaken: areAlike && overtaken }).toEqual({
          over: 0,
          lost: 0,
          errors: [],
          overtaken: areAlike && 0,
        })
      },
    ),
    { numRuns: 100 },
  )
})
