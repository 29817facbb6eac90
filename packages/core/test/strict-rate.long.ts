// Long: the last of them waits for half a minute.
import tls from 'node:tls'
import { startSandbox, type Sandbox, type SandboxOptions } from '@tokenlane/sandbox'
import { afterEach, expect, test } from 'vitest'
import {
  createTokenManager,
  generalIssuer,
  type RatePolicy,
  type TokenManager,
  weblinkIssuer,
} from '../src/index.ts'
import { patient, plainGet } from './plain-get.ts'

// A server that counts every arrival in every sliding window, over TLS, with a network that is slow and uneven.

const trusted = tls.getCACertificates('default')
const delays = { min: 0, max: 200 }
let sandbox: Sandbox
let tokens: TokenManager
afterEach(async () => {
  await tokens.close()
  await sandbox.close()
})

async function start(options: SandboxOptions, general: RatePolicy, weblink: RatePolicy): Promise<void> {
  sandbox = await startSandbox(options)
  tls.setDefaultCACertificates([...trusted, sandbox.ca])
  const { authUrl, weblinkAuthUrl, credentials, apiUrl, weblinkUrl } = sandbox
  tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl, credentials: credentials.general, ...patient }),
      weblink: weblinkIssuer({ authUrl: weblinkAuthUrl, credentials: credentials.weblink, ...patient }),
    },
    apis: [
      { baseUrl: apiUrl, issuer: 'general', ratePolicy: general },
      { baseUrl: weblinkUrl, issuer: 'weblink', ratePolicy: weblink },
    ],
  })
}

/** Makes so many calls at once, as an adapter would. */
async function statusesOf(count: number, baseUrl: string): Promise<(number | undefined)[]> {
  const url = `${baseUrl}records?limit=1`
  const call = async (): Promise<number | undefined> =>
    tokens.route(url)?.send((authorization) => plainGet(url, authorization))
  return Promise.all(Array.from({ length: count }, call))
}

// on a machine that is busy a request takes its time: server and client stand still together
const unansweredGrace = 60_000

const all = (count: number): number[] => Array.from({ length: count }, () => 200)

test('two policies at the same time: the server never counts too many, and answers no 429', async () => {
  const general = [{ quota: 25, window: 400 }]
  const weblink = [
    { quota: 3, window: 200 },
    { quota: 8, window: 900 },
  ]
  await start(
    { delays, ratePolicies: { general: { limits: general }, weblink: { limits: weblink } } },
    { limits: general, unansweredGrace },
    { limits: weblink, spread: true, concurrency: 3, unansweredGrace },
  )
  const [ofGeneral, ofWeblink] = await Promise.all([
    statusesOf(100, sandbox.apiUrl),
    statusesOf(16, sandbox.weblinkUrl),
  ])
  expect(ofGeneral).toEqual(all(100))
  expect(ofWeblink).toEqual(all(16))
  const { apis } = sandbox.control.counts()
  expect(apis.general).toMatchObject({ calls: 100, limited: 0 })
  expect(apis.weblink).toMatchObject({ calls: 16, limited: 0 })
  expect(apis.general.maxInWindow[0]).toBeLessThanOrEqual(25)
  expect(apis.weblink.maxInWindow[0]).toBeLessThanOrEqual(3)
  expect(apis.weblink.maxInWindow[1]).toBeLessThanOrEqual(8)
  expect(apis.weblink.maxConcurrent).toBeLessThanOrEqual(3)
})

test('a server that answers 429, with Retry-After and without: nothing is lost', async () => {
  await start({ delays }, { limits: [], concurrency: 5 }, { limits: [], concurrency: 5 })
  await tokens.warmUp()
  sandbox.control.failApi('general', { status: 429, retryAfter: 1, times: 4 })
  sandbox.control.failApi('weblink', { status: 429, times: 4 })
  const outcomes = await Promise.all([statusesOf(20, sandbox.apiUrl), statusesOf(20, sandbox.weblinkUrl)])
  expect(outcomes).toEqual([all(20), all(20)])
  const { apis } = sandbox.control.counts()
  expect(apis.general).toMatchObject({ calls: 24, answered: 20, limited: 4 })
  expect(apis.weblink).toMatchObject({ calls: 24, answered: 20, limited: 4 })
})
