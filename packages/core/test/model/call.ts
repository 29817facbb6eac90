import { type Api, isTokenlaneError, type RatePolicy } from '../../src/index.ts'
import { figures } from './figures.ts'
import { ConnectionLost, type ScriptedApi } from './scripted-api.ts'
import type { Issued } from './token-model.ts'
import type { World } from './world.ts'

const quota = 5
/** Of the API whose calls wait in a queue. */
export const policy: RatePolicy = { limits: [{ quota, window: 1_000 }], concurrency: 3 }
/** For how long a unit of a request without a response may be kept, in milliseconds. */
const longestGrace = 60_000

/** One call, as planned; `api` is its place in the world. */
export interface CallPlan {
  readonly api: number
  /** Through which door: `token` only asks for the token. */
  readonly door?: 'send' | 'admit' | 'token'
  readonly replayable?: boolean
  /** Aborted before it begins, after n milliseconds, or n microtasks after the next renewal. */
  readonly abort?: 'before' | { readonly after: number } | { readonly microtasks: number }
  /** After everything recovered: it must succeed. */
  readonly healed?: boolean
}

/** A call and what must hold of it: live tokens, two sends at most, an end in time that has a reason. */
export class Call {
  readonly api: ScriptedApi
  /** Whether it has an excuse for failing for want of a token. */
  mayFail: boolean
  /** Whether it has an excuse for not getting a 200. */
  mayBeRefused: boolean
  readonly #world: World
  readonly #plan: CallPlan
  readonly #controller = new AbortController()
  readonly #reason = new Error('aborted by the caller')
  readonly #refusedAsClosed: boolean
  readonly #deadline: number
  /** How often the quota of the API is used up until this call is sent. */
  readonly #quotasBefore: number
  #abortTimer: ReturnType<typeof setTimeout> | undefined
  #sends = 0

  constructor(world: World, plan: CallPlan) {
    const api = world.apis[plan.api] as ScriptedApi
    const { issuer } = api
    this.api = api
    this.#world = world
    this.#plan = plan
    const { current } = issuer.model
    const { replayable = true } = plan
    this.mayFail = !issuer.healthy
    this.mayBeRefused =
      api.manner !== 'right' ||
      api.mayWithholdRenewal ||
      world.clock.blind ||
      (!replayable && current !== undefined && !issuer.takes(current))
    this.#refusedAsClosed = world.closing
    this.#deadline = world.clock.awake + this.#longest()
    this.#quotasBefore = this.#isPaced ? Math.ceil((world.calls.size + 1) / quota) : 0
    this.#planAbort()
    figures.calls += 1
    void this.#run()
  }

  mustBeInTime(): void {
    // a request that was under way while the process stood still took as long: for so long units without response are kept
    const grace = Math.min(longestGrace, this.#world.clock.frozenFor)
    if (this.#world.clock.awake > this.#deadline + this.#quotasBefore * grace)
      this.#world.violated(`invariant 4: ${this.#name} did not end in time`)
  }

  /** Whether its API has a rate policy. */
  get #isPaced(): boolean {
    return this.api.issuer.model.name === 'weblink'
  }

  get #name(): string {
    return `call ${JSON.stringify(this.#plan)}`
  }

  /** Two waits for a token, two attempts, and with a rate policy those calls that are before it in line. */
  #longest(): number {
    const { maxWait, requestTimeout } = this.#world.settings
    const slowest = 1_000
    const withheld = 1_000
    const twice = 2 * (Math.max(maxWait, requestTimeout) + slowest + withheld) + 10
    if (!this.#isPaced) return twice
    return twice + (this.#world.calls.size + 1) * (requestTimeout + 2 * slowest)
  }

  #planAbort(): void {
    const { abort } = this.#plan
    const act = (): void => this.#controller.abort(this.#reason)
    if (abort === undefined) return
    if (abort === 'before') act()
    else if ('after' in abort) this.#abortTimer = setTimeout(act, abort.after)
    else this.#world.onRenewal(() => void afterMicrotasks(abort.microtasks).then(act))
  }

  async #run(): Promise<void> {
    let status: number | undefined
    let error: unknown
    try {
      status = await this.#make()
    } catch (thrown) {
      error = thrown
    }
    clearTimeout(this.#abortTimer)
    this.#world.calls.delete(this)
    this.#world.tell(error)
    const fault = status === undefined ? this.#faultOf(error) : this.#faultIn(status)
    if (fault !== undefined) this.#world.violated(`invariant 4: ${this.#name}: ${fault}`)
  }

  async #make(): Promise<number> {
    const { signal } = this.#controller
    const { door = 'send', replayable = true } = this.#plan
    const { manager } = this.#world
    if (door === 'token') {
      const { value } = await manager.getToken(this.api.issuer.model.name, { signal })
      this.#mustBeLive(value)
      return 200
    }
    const api = manager.route(`${this.api.baseUrl}items`) as Api
    if (door === 'send')
      return api.send((authorization) => this.#attempt(authorization), { signal, replayable })
    let pass = await api.admit({ signal, replayable })
    try {
      for (;;) {
        // as the client does
        signal.throwIfAborted()
        pass.sent()
        const exchange = await this.#attempt(pass.authorization)
        if (pass.report(exchange) === 'final') return exchange.result
        pass = await pass.next()
      }
    } finally {
      pass.release()
    }
  }

  async #attempt(authorization: string): ReturnType<ScriptedApi['answer']> {
    const { signal } = this.#controller
    figures.sends += 1
    this.#sends += 1
    if (this.#sends > 2) this.#world.violated(`invariant 4: ${this.#name} was sent ${this.#sends} times`)
    if (signal.aborted) this.#world.violated(`invariant 2: ${this.#name} was sent after its abort`)
    const token = this.#mustBeLive(authorization.replace('Bearer ', ''))
    if (token === undefined) throw new ConnectionLost()
    // the one retry was spent on the old token: a revocation may have been of both
    this.mayBeRefused ||= this.#sends > 1 && this.api.issuer.model.isOld(token)
    return this.api.answer(token, signal)
  }

  #mustBeLive(value: string): Issued | undefined {
    const token = this.api.issuer.tokens.get(value)
    if (token === undefined) this.#world.violated(`invariant 2: ${this.#name} got a token of another issuer`)
    else this.api.issuer.model.sent(token)
    return token
  }

  #faultIn(status: number): string | undefined {
    if (this.#refusedAsClosed) return 'went through a closed manager'
    return status === 200 || this.mayBeRefused ? undefined : `got ${status} without a reason`
  }

  #faultOf(error: unknown): string | undefined {
    const { signal } = this.#controller
    if (signal.aborted && error === signal.reason) return undefined
    if (error instanceof ConnectionLost)
      return this.api.manner === 'right' && this.#plan.healed ? 'lost' : undefined
    if (!isTokenlaneError(error)) return `failed with ${String(error)}`
    if (error.code === 'MANAGER_CLOSED') return this.#world.closing ? undefined : 'met a closed manager'
    figures.lost += 1
    if (this.#refusedAsClosed) return `failed with ${error.code}, though the manager was closed`
    if (this.api.issuer.model.usable) return `failed with ${error.code}, though a token lives`
    return this.mayFail ? undefined : `failed with ${error.code} without a reason`
  }
}

async function afterMicrotasks(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) await Promise.resolve()
}
