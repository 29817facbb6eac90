import { inspect } from 'node:util'
import {
  createTokenManager,
  isTokenlaneError,
  type TokenlaneEvent,
  type TokenManager,
} from '../../src/index.ts'
import { Call, type CallPlan, policy } from './call.ts'
import { Clock } from './clock.ts'
import { figures } from './figures.ts'
import { ScriptedApi } from './scripted-api.ts'
import { ScriptedIssuer } from './scripted-issuer.ts'
import { TokenModel } from './token-model.ts'

/** What a sequence is run with. */
export interface Settings {
  /** For everything that the library draws. */
  readonly seed: number
  readonly renewBefore: number | undefined
  readonly requestTimeout: number
  readonly maxWait: number
  /** How many secrets the first issuer's client is configured with; the second has a provider. */
  readonly secrets: 1 | 2
}

/** Longer than whatever may be remembered of a failure: Retry-After is heeded up to 5 minutes. */
const untilForgotten = 301_000
const secretText = /(?:TOKEN|SECRET)~/

/** A token manager between two issuers and three APIs, the calls that use it, and what must hold of them all. */
export class World {
  readonly clock = new Clock(() => this.violated('invariant 4: a loop that never lets go'))
  readonly settings: Settings
  readonly issuers: readonly [ScriptedIssuer, ScriptedIssuer]
  readonly apis: readonly [ScriptedApi, ScriptedApi, ScriptedApi]
  readonly manager: TokenManager
  readonly calls = new Set<Call>()
  readonly #violations: string[] = []
  /** What must hold no secret. */
  readonly #told: unknown[] = []
  /** Waits for the next token: aborts at awkward moments. */
  #atRenewal: (() => void)[] = []
  closing = false
  #closed = false

  constructor(settings: Settings) {
    this.settings = settings
    const { renewBefore, requestTimeout, maxWait, secrets } = settings
    const issuer = (name: string, count: number): ScriptedIssuer =>
      new ScriptedIssuer(new TokenModel(name, this.clock, settings, this.violated), this.clock, count)
    const [general, weblink] = (this.issuers = [issuer('general', secrets), issuer('weblink', 1)])
    this.apis = [
      new ScriptedApi('https://api.example.com/', general, this.clock, this.violated),
      new ScriptedApi('https://api.example.com/reports/', general, this.clock, this.violated),
      new ScriptedApi('https://weblink.example.com/', weblink, this.clock, this.violated),
    ]
    const common = { renewBefore, requestTimeout, maxWait }
    this.manager = createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/general',
          credentials: general.credentials(),
          ...common,
        },
        weblink: {
          tokenEndpoint: 'https://auth.example.com/weblink',
          credentials: weblink.provider,
          ...common,
        },
      },
      apis: this.apis.map(({ baseUrl, issuer: { model } }) => ({
        baseUrl,
        issuer: model.name as 'general' | 'weblink',
        ratePolicy: model.name === 'weblink' ? policy : undefined,
      })),
      observe: (event) => this.#observe(event),
      fetch: (url, init) => this.#fetch(url, init),
    })
  }

  readonly violated = (what: string): void => {
    this.#violations.push(what)
    this.clock.halt()
  }

  call(plan: CallPlan): void {
    this.calls.add(new Call(this, plan))
  }

  onRenewal(act: () => void): void {
    this.#atRenewal.push(act)
  }

  /** Something that waiting calls may fail of. */
  trouble(issuer: ScriptedIssuer): void {
    for (const call of this.calls) if (call.api.issuer === issuer) call.mayFail = true
  }

  /** Something that the API may answer these calls otherwise for. */
  disturb(disturbed: (api: ScriptedApi) => boolean): void {
    for (const call of this.calls) if (disturbed(call.api)) call.mayBeRefused = true
  }

  tell(what: unknown): void {
    this.#told.push(what)
  }

  async warmUp(): Promise<void> {
    if (this.closing) return
    void this.manager.warmUp().catch((error: unknown) => {
      this.tell(error)
      if (!isTokenlaneError(error)) this.violated(`invariant 4: warmUp failed with ${String(error)}`)
    })
    await this.clock.settle()
  }

  async close(): Promise<void> {
    const idle = this.calls.size === 0 && this.issuers.every(({ busy }) => !busy)
    this.closing = true
    for (const issuer of this.issuers) this.trouble(issuer)
    void this.#closing()
    await this.clock.settle()
    if (idle && !this.#closed) this.violated('invariant 5: close waits for nothing')
  }

  /** What must hold between any two commands. */
  check(): void {
    for (const call of this.calls) call.mustBeInTime()
    const status = this.manager.status()
    for (const { model } of this.issuers) {
      const told = status.issuers[model.name]
      if (told?.token !== model.state)
        this.violated(`status: the token of ${model.name} is ${told?.token}, not ${model.state}`)
      if ((told?.lastError !== undefined) !== model.failing)
        this.violated(`status: the last error of ${model.name} is ${told?.lastError}`)
    }
    this.#mustHold()
  }

  /** Everything recovers, every call ends, a new one succeeds, and closing leaves nothing behind. */
  async finish(): Promise<void> {
    for (const issuer of this.issuers) issuer.recover()
    for (const api of this.apis) Object.assign(api, { manner: 'right', delay: 0 })
    await this.clock.pass(untilForgotten)
    this.check()
    if (this.calls.size > 0) this.violated(`invariant 4: ${this.calls.size} calls never ended`)
    this.#mustHaveNoTimers('idle')
    if (!this.closing) {
      for (const api of this.apis) this.call({ api: this.apis.indexOf(api), healed: true })
      // before time passes: calls begin in a microtask
      await this.clock.settle()
      await this.clock.pass(this.settings.requestTimeout)
      await this.close()
      await this.clock.settle()
    }
    if (!this.#closed) this.violated('invariant 5: close never ends')
    this.#mustHaveNoTimers('closed')
    this.call({ api: 0 })
    await this.clock.settle()
    this.check()
    this.#told.push(this.manager.status())
    for (const print of [printed, json])
      if (secretText.test(print(this.#told))) this.violated('invariant 6: a secret is told')
    this.#mustHold()
  }

  async #fetch(url: string, { body, signal }: RequestInit = {}): Promise<Response> {
    figures.requests += 1
    if (this.#closed) this.violated('invariant 5: a token request after close')
    const secret = (body as URLSearchParams).get('client_secret') ?? ''
    const asked = this.issuers.find(({ model }) => url.endsWith(model.name)) ?? this.issuers[0]
    return asked.fetch(secret, signal as AbortSignal)
  }

  #observe(event: TokenlaneEvent): void {
    this.#told.push(event)
    const issuer =
      'issuer' in event ? this.issuers.find(({ model }) => model.name === event.issuer) : undefined
    // before the token is dropped
    if (event.type === 'token.rejected') this.apis.find(({ baseUrl }) => baseUrl === event.api)?.rejected()
    issuer?.model.observed(event)
    figures.count(event.type)
    if (event.type === 'renewal.failed' && issuer) this.trouble(issuer)
    if (event.type !== 'token.renewed') return
    for (const act of this.#atRenewal.splice(0)) act()
  }

  async #closing(): Promise<void> {
    await this.manager.close()
    this.#closed = true
    // those that waited for a token alone hear of its end at the same time
    await this.clock.settle()
    if (this.calls.size > 0) this.violated('invariant 5: closed with calls under way')
    if (this.issuers.some(({ model }) => model.busy)) this.violated('invariant 5: closed with a request open')
  }

  #mustHaveNoTimers(when: string): void {
    const { timers } = this.clock
    if (timers > 0) this.violated(`invariant 5: ${timers} timers while the manager is ${when}`)
  }

  #mustHold(): void {
    if (this.#violations.length > 0) throw new Error(this.#violations.join('\n'))
  }
}

const printed = (told: unknown): string => inspect(told, { depth: 12, maxArrayLength: null })

/** JSON leaves out an error's own message and cause, which loggers add. */
function json(told: unknown): string {
  return JSON.stringify(told, (_, value: unknown) =>
    value instanceof Error ? Object.assign({ message: value.message, cause: value.cause }, value) : value,
  )
}
