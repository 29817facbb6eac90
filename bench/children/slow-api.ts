// An API on loopback that takes its time and keeps a quota, in a process of its own. Each path is an API with a quota of
// its own: `/<who calls>/<kind of response time>/`.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

import { answerTimes } from '../support/figures.ts'
import { orderGiven } from '../support/child.ts'

export interface ApiOrder {
  readonly quota: number
  readonly window: number
  /** How long a request and how long a response travels, in milliseconds. */
  readonly network: readonly [least: number, most: number]
}

export interface ApiFigures {
  /** What an API has seen, by its path. */
  readonly counts: Readonly<Record<string, ApiCount>>
  /** For how long the process stood still at most, in milliseconds. */
  readonly pause: number
}

interface ApiCount {
  /** When it accepted requests, in milliseconds. */
  readonly accepted: number[]
  /** How many requests it answered with 429. */
  limited: number
}

const { quota, window, network } = await orderGiven<ApiOrder>()
const counts: Record<string, ApiCount> = {}
const pauses = monitorEventLoopDelay({ resolution: 5 })

const travel = (): Promise<void> => wait(network[0] + (network[1] - network[0]) * Math.random())

/** A request is counted when it has arrived. One too many is refused at once, and takes nothing of the quota. */
async function answer(path: string, response: ServerResponse): Promise<void> {
  const kind = decodeURIComponent(path.split('/')[2] ?? '')
  const count = (counts[path] ??= { accepted: [], limited: 0 })
  await travel()
  const now = performance.now()
  if (now - (count.accepted.at(-quota) ?? Number.NEGATIVE_INFINITY) > window) {
    count.accepted.push(now)
    await wait(answerTimes[kind]?.())
    await travel()
    response.end('{}')
  } else {
    count.limited += 1
    await travel()
    response.writeHead(429, { 'retry-after': '1' }).end()
  }
}

const server = createServer((request, response) => void answer(request.url ?? '', response))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  pauses.enable()
  process.once('message', () => process.send?.({ counts, pause: pauses.max / 1e6 } satisfies ApiFigures))
})
process.on('disconnect', () => process.exit())
