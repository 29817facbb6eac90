// Long: 5,000 calls of each client, while everything around them goes wrong.
import { getEventListeners } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { Random } from '@tokenlane/testing/random'
import { expect, onTestFinished, test } from 'vitest'

import { openChaoticServer, type ChaoticServer } from './support/chaotic-server.ts'
import { createClients, outcomeOf, type Request } from './support/clients.ts'

// What holds whatever happens:
//
// - Every call ends, with a response, its own abort, or an error of a known kind.
// - No token leaves its API: not by a redirect into another one, and not by one to nowhere.
// - No secret and no token is in what an error prints.
// - The counts match: what the manager says that it sent is what arrived, but for calls that were given up under way; a
//   call that succeeded was answered once, and one with a stream as its body arrived once.
// - Nothing is left: no slot, no place in the queue, no listener on a signal, no timer, no socket.
// - No span as long as the window has more requests of the API than its quota.

const names = ['axios', 'got', 'ky', 'fetch', 'undici'] as const
const callsOfEach = 5_000
const together = 25
const limit = { quota: 90, window: 100 }
const secret = 'the-secret-of-the-application'
const known = /^(?:ok|given up|status (?:401|403|500)|TOKEN_\w+|E[A-Z]+|ERR_\w+|UND_ERR_\w+)$/
const kinds = [
  'ok',
  'ok',
  'ok',
  'slow',
  'error',
  'forbidden',
  'gone',
  'refused',
  'half',
  'moved',
  'across',
  'outside',
]

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

interface Scene {
  readonly server: ChaoticServer
  readonly tokens: TokenManager
  readonly random: Random
  readonly sent: () => number
}

async function open(seed: number): Promise<Scene> {
  const server = await openChaoticServer()
  const random = new Random(seed)
  let sent = 0
  const credentials = { clientId: 'application', clientSecret: secret }
  const issuer = (api: string) => ({
    tokenEndpoint: `https://${api}.issuer.example/token`,
    credentials,
    allowInsecureLoopback: true,
  })
  const tokens = createTokenManager({
    issuers: { a: issuer('a'), b: issuer('b') },
    apis: [
      { baseUrl: `${server.origin}/a/`, issuer: 'a', ratePolicy: { limits: [limit], concurrency: 60 } },
      { baseUrl: `${server.origin}/b/`, issuer: 'b' },
    ],
    observe: (event) => void (sent += event.type === 'call.finished' ? event.sends : 0),
    async fetch(input) {
      const api = new URL(input).hostname.slice(0, 1)
      await sleep(random.whole(0, 5))
      if (random.chance(0.2)) return new Response('busy', { status: 503 })
      return Response.json({ access_token: server.issue(api), token_type: 'Bearer', expires_in: 3_600 })
    },
  })
  return { server, tokens, random, sent: () => sent }
}

test.each(names)('5,000 chaotic calls of %s', async (name) => {
  const before = left()
  const { server, tokens, random, sent } = await open(Number(process.env['SEED']))
  onTestFinished(() => server.close())
  const clients = createClients(tokens)
  const shared = new AbortController()
  const outcomes = new Map<string, string>()
  const streams = new Set<string>()
  const shown: string[] = []

  async function make(number: number): Promise<void> {
    const id = `c${number}`
    if (random.chance(0.002)) server.revoke(random.pick(['a', 'b']))
    const request: Request = {
      url: `${server.origin}/${random.pick(['a', 'b'])}/${random.pick(kinds)}/${id}`,
      ...random.pick([
        { method: 'GET', stream: false },
        { method: 'GET', stream: false },
        { method: 'POST', stream: false },
        { method: 'POST', stream: true },
      ] as const),
    }
    if (request.stream) streams.add(id)
    const own = random.chance(0.05) ? new AbortController() : undefined
    const timer = own && setTimeout(() => own.abort(), random.whole(0, 10))
    const signal = own?.signal ?? (random.chance(0.5) ? shared.signal : undefined)
    try {
      const status = await clients.send[name]({ ...request, ...(signal && { signal }) })
      outcomes.set(id, status < 400 ? 'ok' : `status ${status}`)
    } catch (error) {
      outcomes.set(id, own?.signal.aborted === true ? 'given up' : outcomeOf(error))
      if (number % 10 === 0) shown.push(inspect(error, { depth: 6, maxStringLength: null }))
    } finally {
      clearTimeout(timer)
    }
  }

  let next = 0
  await Promise.all(
    Array.from({ length: together }, async () => {
      while (next < callsOfEach) await make((next += 1))
    }),
  )

  expect(outcomes.size).toBe(callsOfEach)
  expect([...outcomes].filter(([, outcome]) => !known.test(outcome))).toEqual([])
  expect(server.wrong).toEqual([])
  expect(shown.filter((text) => text.includes(secret) || /\w-token-\d/.test(text))).toEqual([])
  expect(tokens.status().apis).toMatchObject([{ running: 0, queued: 0 }, {}])
  expect(strange({ server, outcomes, streams })).toEqual([])
  const givenUp = [...outcomes.values()].filter((outcome) => outcome === 'given up').length
  // axios follows redirects within one request of ours
  const isOurs = (id: string): boolean => name !== 'axios' || !id.endsWith('.in')
  expect(server.most(limit.window, isOurs)).toBeLessThanOrEqual(limit.quota)
  const counted = server.arrivals.filter(({ id, hasToken }) => hasToken && isOurs(id)).length
  expect(sent()).toBeGreaterThanOrEqual(counted)
  expect(sent()).toBeLessThanOrEqual(counted + givenUp)

  await tokens.close()
  await clients.close()
  http.globalAgent.destroy()
  await server.close()
  // Node's `fetch` leaves one that goes with its request when that is collected
  await expect
    .poll(() => {
      collect()
      return getEventListeners(shared.signal, 'abort').length
    })
    .toBe(0)
  await expect.poll(() => Math.max(0, left() - before)).toBe(0)
})

interface Found {
  readonly server: ChaoticServer
  readonly outcomes: ReadonlyMap<string, string>
  readonly streams: ReadonlySet<string>
}

/** What became of calls, where it is not what arrived. */
function strange({ server, outcomes, streams }: Found): string[] {
  const statuses = new Map<string, number[]>()
  for (const { id, status } of server.arrivals) {
    const before = statuses.get(id)
    if (before === undefined) statuses.set(id, [status])
    else before.push(status)
  }
  return [...outcomes].flatMap(([id, outcome]) => {
    const found = statuses.get(id) ?? []
    const all = [id, `${id}.in`, `${id}.out`].flatMap((each) => statuses.get(each) ?? [])
    const answered = all.filter((status) => status >= 200 && status < 300).length
    const isWrong =
      (outcome === 'ok' && answered !== 1) ||
      (streams.has(id) && found.length > 1) ||
      // a call is sent again after a 401 alone; axios starts anew after one at the end of a redirect
      found.slice(0, -1).some((status) => status !== 401 && status !== 303) ||
      found.length > 3
    return isWrong ? [`${id} ${outcome}: ${all.join()}`] : []
  })
}

/** How many timers and sockets there are. */
function left(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(?:Timeout|TCPSocketWrap|TLSWrap)$/.test(name))
    .length
}
