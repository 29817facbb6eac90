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

test(
  'whatever the limits, their windows, what they match and what calls cost: a server that enforces them refuses none',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(limits, { minLength: 1, maxLength: 3 }),
        fc.array(
          fc.record({
            path: fc.constantFrom(...paths),
            isWrite: fc.boolean(),
            cost: fc.integer({ min: 1, max: 4 }),
          }),
          {
            minLength: 1,
            maxLength: 6,
          },
        ),
        fc.boolean(),
        fc.boolean(),
        async (all, calls, spread, isCosted) => {
          const costOf = ({ cost = 1 }: Sent): number => (isCosted ? cost : 1)
          const sent = calls.map(({ path, isWrite, cost }) => ({
            method: isWrite ? 'POST' : 'GET',
            path,
            cost,
          }))
          const named = all.map(({ isNamed, ...limit }, index) =>
            isNamed ? Object.assign(limit, { name: `limit ${index}` }) : limit,
          )
          const policy: RatePolicy = { limits: named, spread }
          const { over, lost } = await callStrictly(policy, {
            rules: policy.limits.map((limit) => ruleOf(limit, costOf)),
            call: (index) => {
              const call = sent[index % sent.length] as Sent
              return isCosted ? call : { method: call.method, path: call.path }
            },
            callers: 30,
            seconds: 30,
          })
          expect({ over, lost }).toEqual({ over: 0, lost: 0 })
        },
      ),
      { numRuns: 60 },
    )
  },
)
