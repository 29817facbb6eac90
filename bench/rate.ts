// What a strict server sees of a client that always has more calls than it may send, and how many get through.
import tls from 'node:tls'
import { createTokenManager, generalIssuer, weblinkIssuer, type Api, type RatePolicy } from '@tokenlane/core'
import type { RateLimit, Realm, SandboxCounts } from '@tokenlane/sandbox'
import PQueue from 'p-queue'
import pThrottle from 'p-throttle'

import { startChild, tellOf } from './support/child.ts'
import type { Service } from './children/strict-service.ts'
import { printTable } from './support/table.ts'

const quick = process.argv.includes('--quick')
const duration = quick ? 10_000 : 60_000
const warmUp = 3_000

/** Sends one call when it may go. */
type Send = (attempt: () => Promise<void>) => Promise<unknown>

interface Case {
  readonly name: string
  readonly limits: readonly RateLimit[]
  /** Through Tokenlane, with this besides the limits; else through a peer. */
  readonly through: Omit<RatePolicy, 'limits'> | (() => Send)
}

const persecond = (quota: number): RateLimit[] => [{ quota, window: 1_000 }]
const uneven = { min: 0, max: 200 }

/** A service in a process of its own, whose two APIs take a case each. */
interface Setting {
  readonly delays?: typeof uneven
  readonly cases: Readonly<Record<Realm, Case>>
}

const ours: readonly Setting[] = [
  {
    delays: uneven,
    cases: {
      general: { name: '25/1 s', limits: persecond(25), through: {} },
      weblink: { name: '100/1 s', limits: persecond(100), through: {} },
    },
  },
  {
    delays: uneven,
    cases: {
      general: {
        name: '3/1 s and 180/60 s',
        limits: [...persecond(3), { quota: 180, window: 60_000 }],
        through: {},
      },
      weblink: { name: '25/1 s, spread', limits: persecond(25), through: { spread: true } },
    },
  },
  {
    cases: {
      general: { name: '25/1 s, spread, no delay', limits: persecond(25), through: { spread: true } },
      weblink: {
        name: '100/1 s, learned, no delay',
        limits: persecond(100),
        through: { accounting: 'learned' },
      },
    },
  },
]

const peers: readonly Setting[] = [
  {
    delays: uneven,
    cases: {
      general: {
        name: '100/1 s, p-queue strict',
        limits: persecond(100),
        through() {
          const queue = new PQueue({ intervalCap: 100, interval: 1_000, strict: true })
          return (attempt) => queue.add(attempt)
        },
      },
      weblink: {
        name: '100/1 s, p-throttle strict',
        limits: persecond(100),
        through: () => pThrottle({ limit: 100, interval: 1_000, strict: true })((attempt) => attempt()),
      },
    },
  },
]

printTable(
  `Rate policies at a strict server, ${duration / 1_000} s each, all at once; delays of 0 to 200 ms each way unless said otherwise`,
  await measured(ours, duration),
)
printTable('The same with what else there is, 10 s each, both at once', await measured(peers, 10_000))
process.exit()

async function measured(services: readonly Setting[], ms: number): Promise<Record<string, string>[]> {
  const rows = await Promise.all(services.map((setting) => measureBoth(setting, ms)))
  return rows.flat()
}

async function measureBoth({ cases, delays }: Setting, ms: number): Promise<Record<string, string>[]> {
  const { general, weblink } = cases
  const child = startChild('strict-service.ts', {
    ratePolicies: { general: { limits: general.limits }, weblink: { limits: weblink.limits } },
    delays,
  })
  const service = await tellOf<Service>(child)
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), service.ca])
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: service.authUrl, credentials: service.credentials.general }),
      weblink: weblinkIssuer({ authUrl: service.weblinkAuthUrl, credentials: service.credentials.weblink }),
    },
    apis: [
      { baseUrl: service.apiUrl, issuer: 'general', ratePolicy: policyOf(general) },
      { baseUrl: service.weblinkUrl, issuer: 'weblink', ratePolicy: policyOf(weblink) },
    ],
  })
  await tokens.warmUp()
  const [generalSends, weblinkSends] = await Promise.all([
    load(general, tokens.route(service.apiUrl) as Api, ms),
    load(weblink, tokens.route(service.weblinkUrl) as Api, ms),
  ])
  child.send('counts')
  const { apis } = await tellOf<SandboxCounts>(child)
  child.kill()
  return [rowOf(general, generalSends, apis.general), rowOf(weblink, weblinkSends, apis.weblink)]
}

function policyOf({ limits, through }: Case): RatePolicy | undefined {
  return typeof through === 'function' ? undefined : { limits, ...through }
}

/** When a call went out, and how long its answer took. */
interface Sent {
  readonly at: number
  readonly roundTrip: number
}

/** Always has three times as many calls ready as the quota. */
async function load({ limits, through }: Case, api: Api, ms: number): Promise<Sent[]> {
  const sends: Sent[] = []
  const end = performance.now() + warmUp + ms
  const url = `${api.baseUrl}records?limit=1`
  const peer = typeof through === 'function' ? through() : undefined
  const exchange = async (authorization: string): Promise<number> => {
    const at = performance.now()
    const response = await fetch(url, { headers: { authorization } })
    await response.arrayBuffer()
    sends.push({ at, roundTrip: performance.now() - at })
    return response.status
  }
  const call = (): Promise<unknown> => {
    const send = (): Promise<unknown> =>
      api.send(async (authorization) => {
        const status = await exchange(authorization)
        return { status, result: status, discard() {} }
      })
    return peer === undefined
      ? send()
      : peer(async () => {
          await send()
        })
  }
  const caller = async (): Promise<void> => {
    while (performance.now() < end) await call()
  }
  const callers = Math.max(...limits.map(({ quota }) => quota)) * 3
  await Promise.race([
    Promise.all(Array.from({ length: callers }, caller)),
    new Promise((resolve) => setTimeout(resolve, warmUp + ms)),
  ])
  return sends
}

/** Over whole rounds of the quota, so that it does not matter where in a burst the measuring begins and ends. */
function rowOf(
  { name, limits }: Case,
  sends: readonly Sent[],
  counts: SandboxCounts['apis'][Realm],
): Record<string, string> {
  const inOrder = sends.toSorted((a, b) => a.at - b.at)
  const steady = inOrder.filter(({ at }) => at - (inOrder[0]?.at ?? 0) > warmUp)
  const roundTrip = steady.reduce((sum, send) => sum + send.roundTrip, 0) / steady.length
  const most = limits.map(({ quota, window }) => quota / window)
  const bound = Math.min(...most)
  const { quota } = limits[most.indexOf(bound)] as RateLimit
  const calls = Math.floor((steady.length - 1) / quota) * quota
  const rate = calls / ((steady[calls]?.at ?? 0) - (steady[0]?.at ?? 0))
  return {
    'limits, what keeps them': name,
    'of the quota': (rate / bound).toFixed(3),
    'most in any window': counts.maxInWindow
      .map((max, index) => `${max} of ${limits[index]?.quota}`)
      .join(', '),
    'answered 429': String(counts.limited),
    'calls/s': (rate * 1_000).toFixed(2),
    'mean round trip': `${roundTrip.toFixed(0)} ms`,
  }
}
