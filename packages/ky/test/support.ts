import { createHash } from 'node:crypto'

import { type TokenlaneEvent, type TokenManager } from '@tokenlane/core'
import { openService, type Service } from '@tokenlane/testing'
import ky, { type KyInstance, type Options } from 'ky'
import { afterEach, beforeEach, expect, vi } from 'vitest'

import { kyTokens } from '../src/index.ts'

export let sandbox: Service['sandbox']
export let createManager: Service['createManager']
export let weblink: Service['weblink']
export let outside: Service['outside']
export let redirect: Service['redirect']
export let calls: Service['calls']
export let tokenRequests: Service['tokenRequests']
export let revoke: Service['revoke']

/** A manager of both APIs, and a ky with its tokens: new ones for each test. */
export let tokens: TokenManager
export let client: KyInstance
/** Token requests of the manager. */
export let asked: number
let events: TokenlaneEvent[]
/** Holds token requests while it is there. */
let issuer: PromiseWithResolvers<void> | undefined

/** Starts the service for the file that calls this at its top. */
export async function useService(): Promise<void> {
  ;({ sandbox, createManager, weblink, outside, redirect, calls, tokenRequests, revoke } =
    await openService())

  beforeEach(() => {
    events = []
    asked = 0
    tokens = managerFor()
    client = bare.extend(kyTokens(tokens))
  })

  afterEach(async () => {
    vi.useRealTimers()
    issuer?.resolve()
    issuer = undefined
    mustBeIdle()
    await tokens.close()
  })
}

export const bare = ky.create({ retry: 0 })

/** Holds token requests until the test is over. */
export function holdIssuer(): void {
  issuer = Promise.withResolvers()
}

/** The weblink API takes one call at a time. */
function managerFor(): TokenManager {
  return createManager({
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      { baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy: { limits: [], concurrency: 1 } },
    ],
    observe: (event) => events.push(event),
    fetch: async (...request) => {
      asked += 1
      await issuer?.promise
      return globalThis.fetch(...request)
    },
  })
}

export type Body = NonNullable<RequestInit['body']>
export type Fetch = NonNullable<Options['fetch']>

export const bytes = new TextEncoder().encode('héllo wörld')
export const sha256 = createHash('sha256').update(bytes).digest('hex')
export const admitted = (): number => events.filter(({ type }) => type === 'call.sent').length
export const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error,
  )

export function lane(): { running: unknown; queued: unknown } {
  const status = tokens.status().apis.find(({ baseUrl }) => baseUrl === sandbox.weblinkUrl)
  return { running: status?.running, queued: status?.queued }
}

/** Fails where a call of the test holds a slot, or waits for one, after its end. */
function mustBeIdle(): void {
  expect(lane()).toEqual({ running: 0, queued: 0 })
}

/** Returns a `fetch` that answers with these statuses, one after the other, and the tokens that it was sent. */
export function answering(...statuses: number[]) {
  const seen: (string | null)[] = []
  const fetch = async (request: unknown): Promise<Response> => {
    seen.push((request as Request).headers.get('authorization'))
    return new Response(null, { status: statuses.shift() ?? 200 })
  }
  return { seen, fetch }
}

/** Returns a `fetch` whose calls wait until the test answers them or their signal aborts. */
export function holding() {
  const waiting: (() => void)[] = []
  const fetch = async (input: unknown): Promise<Response> => {
    const { signal } = input as Request
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    waiting.push(() => resolve(new Response('late')))
    return promise
  }
  return { waiting, fetch }
}

/** Waits for what happens without a timer: `vi.waitFor` would advance fake ones. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1_000 && !condition(); turns += 1)
    await new Promise((resolve) => setImmediate(resolve))
  if (!condition()) throw new Error(`did not come: ${String(condition)}`)
}

/** Stops the timers, with a live token, so that no call has to wait for one meanwhile. */
export async function stopTimers(): Promise<void> {
  await tokens.getToken('weblink')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
}
