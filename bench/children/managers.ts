// Many managers in a process of its own, or one with many APIs.
import { createTokenManager, type TokenManager, type TokenManagerOptions } from '@tokenlane/core'
import { cpuTime } from '../support/cpu.ts'
import { median } from '../support/median.ts'

export type ManagersOrder =
  | { readonly managers: number }
  | { readonly apis: number; readonly on: 'one origin' | 'own origins' }

/** For each manager: microseconds of CPU and bytes of heap. */
export interface ManagersFigures {
  readonly create: number
  readonly bytes: number
  readonly close: number
  /** Heap that is still taken when all are closed and dropped. */
  readonly left: number
}

export interface RoutesFigures {
  /** Milliseconds of CPU for the manager. */
  readonly create: number
  /** Nanoseconds of CPU for the API of a URL, and for a URL outside every API. */
  readonly found: number
  readonly outside: number
}

const general = {
  tokenEndpoint: 'https://auth.example.com/token',
  credentials: { clientId: 'client', clientSecret: 'secret' },
}
const ratePolicy = { limits: [{ quota: 25, window: 1_000 }] }

async function measureManagers(count: number): Promise<ManagersFigures> {
  const create = (index: number): TokenManager =>
    createTokenManager({
      issuers: { general },
      apis: [{ baseUrl: `https://tenant-${index}.example.com/api/`, issuer: 'general', ratePolicy }],
    })
  await create(0).close()
  const before = heap()
  const start = cpuTime()
  let managers = Array.from({ length: count }, (_, index) => create(index))
  const created = cpuTime() - start
  const bytes = heap() - before
  const closeStart = cpuTime()
  await Promise.all(managers.map((manager) => manager.close()))
  const closed = cpuTime() - closeStart
  managers = []
  return {
    create: created / count,
    bytes: bytes / count,
    close: closed / count,
    left: (heap() - before) / count,
  }
}

function measureRoutes(count: number, on: 'one origin' | 'own origins'): RoutesFigures {
  const place = (index: number): string =>
    on === 'one origin' ? `https://api.example.com/api-${index}/` : `https://api-${index}.example.com/v1/`
  const options: TokenManagerOptions<'general'> = {
    issuers: { general },
    apis: Array.from({ length: count }, (_, index) => ({ baseUrl: place(index), issuer: 'general' })),
  }
  const start = cpuTime()
  const manager = createTokenManager(options)
  const create = (cpuTime() - start) / 1_000
  // each another one than before: an adapter looks one URL up several times, and the last is remembered
  const urls = Array.from(
    { length: 10_000 },
    (_, index) => `${place((index * 7_919) % count)}records/${index}`,
  )
  const outside = urls.map((url) => url.replace('example.com', 'example.org'))
  return { create, found: lookUp(manager, urls), outside: lookUp(manager, outside) }
}

/** The median of rounds, after two that do not count. */
function lookUp(manager: TokenManager, urls: readonly string[]): number {
  const rounds = Array.from({ length: 13 }, () => {
    const start = cpuTime()
    for (const url of urls) manager.route(url)
    return ((cpuTime() - start) * 1_000) / urls.length
  })
  return median(rounds.slice(2))
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const order = await new Promise<ManagersOrder>((resolve) => {
  process.once('message', (message) => resolve(message as ManagersOrder))
})
process.send?.(
  'managers' in order ? await measureManagers(order.managers) : measureRoutes(order.apis, order.on),
)
process.disconnect()
