// Prints which functions of core run, as the coverage of V8 sees them, from a 401 until the call is sent again, in a call
// with a rate policy that waits for nothing beyond one without, and in the report of a 429: `node functions-of-a-call.ts`.
import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Api, Exchange } from '../src/adapter.ts'
import { createTokenManager, type RatePolicy } from '../src/index.ts'

let issued = 0
const session = new Session()
session.connect()
await session.post('Profiler.enable')

function managerOf(ratePolicy?: RatePolicy): { api: Api; close: () => Promise<unknown> } {
  const tokens = createTokenManager({
    async fetch() {
      issued += 1
      return Response.json({ access_token: `token-${issued}`, token_type: 'Bearer', expires_in: 3_600 })
    },
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
      },
    },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ...(ratePolicy && { ratePolicy }) }],
  })
  return { api: tokens.route('https://api.example.com/') as Api, close: () => tokens.close() }
}

async function start(): Promise<void> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
}

async function stop(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  return result
    .filter(({ url }) => url.includes('/core/src/'))
    .flatMap((script) =>
      script.functions
        // a function is counted where it is defined, the module itself not at all
        .filter(({ ranges: [whole] }) => whole !== undefined && whole.count > 0 && whole.startOffset > 0)
        .map(({ functionName, ranges }) =>
          [script.url.split('/core/src/')[1], functionName, ranges[0]?.startOffset].join(' '),
        ),
    )
    .toSorted()
}

const headers = new Headers({ date: new Date().toUTCString(), connection: 'keep-alive' })
const header = (name: string): string | null => headers.get(name)

function answer(status: number): Exchange<undefined> {
  return { status, header, result: undefined, discard: async () => {} }
}

/** The first of three reads what is read once. */
async function thrice(act: () => Promise<string[]>): Promise<string[][]> {
  const runs = [await act(), await act(), await act(), await act()]
  return runs.slice(1)
}

const without = managerOf()
/** A process that stands still for the usual grace would not move the unit of a response. */
const limited: RatePolicy = { limits: [{ quota: 1_000, window: 1_000 }], unansweredGrace: 10_000 }
const withPolicy = managerOf(limited)

async function afterRefusal(): Promise<string[]> {
  let functions: string[] = []
  let sends = 0
  await without.api.send(async () => {
    sends += 1
    if (sends === 1) await start()
    else functions = await stop()
    return { ...answer(sends === 1 ? 401 : 200), header: undefined }
  })
  // until the next renewal is due
  await sleep(1_100)
  return functions
}

async function wholeCall({ api }: { api: Api }): Promise<string[]> {
  // a connection is open, and the last turn of the event loop is over
  await api.send(async () => answer(200))
  await sleep(5)
  await start()
  await api.send(async () => {
    await sleep(5)
    return answer(200)
  })
  return stop()
}

async function reportOfLimit(): Promise<string[]> {
  const { api, close } = managerOf(limited)
  await wholeCall({ api })
  const pass = await api.admit()
  await start()
  pass.report({ ...answer(429), retryAfter: '1' })
  const functions = await stop()
  pass.release()
  await close()
  return functions
}

const after401 = await thrice(afterRefusal)
const plain = await thrice(() => wholeCall(without))
const policy = await thrice(() => wholeCall(withPolicy))
const after429 = await thrice(reportOfLimit)
await Promise.all([without.close(), withPolicy.close()])
const ofPolicy = policy.map((run) => run.filter((name) => !plain[0]?.includes(name)))
console.log(JSON.stringify({ after401, ofPolicy, after429 }))
