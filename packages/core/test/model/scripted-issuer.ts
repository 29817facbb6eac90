import type { Credentials } from '../../src/index.ts'
import type { Clock } from './clock.ts'
import type { Issued, TokenModel } from './token-model.ts'

/** What the issuer responds, until a test changes it. */
export type Answer =
  | 'token'
  | 'unavailable'
  | 'forbidden as HTML'
  | 'no token'
  | 'invalid scope'
  | 'network error'
  | 'silence'

/** `expires_in` as it is sent, and what that means in milliseconds; `undefined`: no token answer. */
export interface Lifetime {
  readonly expiresIn: unknown
  readonly ms: number | undefined
}

/** The token endpoint of one issuer, which follows a script, and how its client comes by its secret. */
export class ScriptedIssuer {
  readonly model: TokenModel
  readonly tokens = new Map<string, Issued>()
  readonly revoked = new Set<Issued>()
  /** When a 401 last cost a token. */
  rejectedAt = Number.NEGATIVE_INFINITY
  answer: Answer = 'token'
  /** For how many more requests it answers so, before it gives tokens again. */
  times = Number.POSITIVE_INFINITY
  /** Seconds, as sent with an error. */
  retryAfter: number | undefined
  lifetime: Lifetime = { expiresIn: 3_600, ms: 3_600_000 }
  /** How long an answer takes, in milliseconds. */
  delay = 0
  /** Whether a request that was given up is noticed. */
  deaf = false
  /** The secrets that the issuer takes, and those that the client has. */
  accepted: readonly string[]
  offered: readonly string[]
  /** How the provider, where there is one, behaves. */
  vault: 'open' | 'sealed' | 'silent' = 'open'
  readonly #clock: Clock
  /** How often the provider is being asked now. */
  #asked = 0
  #secrets: number

  constructor(model: TokenModel, clock: Clock, secrets: number) {
    this.model = model
    this.#clock = clock
    this.#secrets = secrets
    this.accepted = [this.#secret(1)]
    this.offered = Array.from({ length: secrets }, (_, index) => this.#secret(index + 1))
  }

  /** Whether calls have no reason to fail for want of a token. */
  get healthy(): boolean {
    return (
      this.answer === 'token' &&
      this.lifetime.ms !== undefined &&
      this.delay <= this.lifetime.ms / 2 &&
      this.vault === 'open' &&
      this.offered.every((secret) => this.accepted.includes(secret)) &&
      !this.model.failing
    )
  }

  /** Whether a token request is under way, or the provider was asked for what to send with it. */
  get busy(): boolean {
    return this.model.busy || this.#asked > 0
  }

  recover(): void {
    this.answer = 'token'
    this.lifetime = { expiresIn: 3_600, ms: 3_600_000 }
    this.delay = 0
    this.vault = 'open'
    this.accepted = this.offered
  }

  /** A new secret; with overlap the old one stays good, and the client may learn of the new one now or never. */
  rotate(overlap: boolean, told: boolean): void {
    const next = this.#secret((this.#secrets += 1))
    this.accepted = overlap ? [...this.accepted, next] : [next]
    if (told) this.offered = overlap ? [...this.offered.slice(-1), next] : [next]
  }

  revoke(): void {
    for (const token of this.tokens.values()) this.revoked.add(token)
  }

  /** Whether an API takes this token. */
  takes(token: Issued): boolean {
    return !this.revoked.has(token) && this.#clock.real < token.requested.real + token.lifetime
  }

  readonly credentials = (): Credentials[] =>
    this.offered.map((clientSecret) => ({ clientId: this.model.name, clientSecret }))

  readonly provider = async ({ signal }: { signal: AbortSignal }): Promise<Credentials[]> => {
    this.#asked += 1
    try {
      if (this.vault === 'sealed') throw new Error(`sealed: ${this.offered.join()}`)
      if (this.vault === 'silent') await aborted(signal)
      if (this.delay > 0) await this.#wait(this.delay / 2, signal)
      return this.credentials()
    } finally {
      this.#asked -= 1
    }
  }

  readonly fetch = async (secret: string, signal: AbortSignal): Promise<Response> => {
    this.model.requested(secret)
    let over = false
    const end = (): void => {
      if (!over) this.model.ended()
      over = true
    }
    signal.addEventListener('abort', end, { once: true })
    const { clock, lifetime } = { clock: this.#clock, lifetime: this.lifetime }
    const requested = { wall: clock.wall, monotonic: clock.monotonic, real: clock.real }
    try {
      const answer = this.#judge(secret)
      if (this.deaf && answer === 'silence') return await new Promise<never>(() => {})
      if (answer === 'silence') await aborted(signal)
      if (this.delay > 0) await this.#wait(this.delay, signal)
      signal.throwIfAborted()
      // who never answers asks for nothing
      const retryAfter = answer === 'token' || answer === 'network error' ? undefined : this.retryAfter
      if (answer === 'invalid_client' || answer === 'invalid scope') this.model.refused(secret)
      else if (answer !== 'token' || lifetime.ms === undefined)
        this.model.failed(retryAfter === undefined ? undefined : retryAfter * 1_000)
      if (answer !== 'token') return this.#refusal(answer, secret)
      return this.#token(lifetime, requested)
    } catch (error) {
      if (signal.aborted) this.model.failed()
      throw error
    } finally {
      end()
    }
  }

  #judge(secret: string): Answer | 'invalid_client' {
    if ((this.times -= 1) < 0) this.answer = 'token'
    return this.answer !== 'token' || this.accepted.includes(secret) ? this.answer : 'invalid_client'
  }

  #token({ expiresIn, ms }: Lifetime, requested: Issued['requested']): Response {
    const value = `TOKEN~${this.model.name}~${this.tokens.size + 1}`
    if (ms !== undefined) {
      const issued = { value, lifetime: ms, requested }
      this.tokens.set(value, issued)
      this.model.answeredWith(issued)
    }
    return Response.json({ access_token: value, token_type: 'Bearer', expires_in: expiresIn })
  }

  /** Every one of them quotes the secret, as careless servers and proxies do. */
  #refusal(answer: Exclude<Answer, 'token'> | 'invalid_client', secret: string): Response {
    const headers: Record<string, string> =
      this.retryAfter === undefined ? {} : { 'retry-after': `${this.retryAfter}` }
    switch (answer) {
      case 'invalid_client':
        return Response.json({ error: answer, error_description: secret }, { status: 401 })
      case 'invalid scope':
        return Response.json({ error: 'invalid_scope', error_description: secret }, { status: 400 })
      case 'unavailable':
        return new Response(secret, { status: 503, headers })
      case 'forbidden as HTML':
        return new Response(`<h1>${secret}</h1>`, { status: 403, headers })
      case 'no token':
        return Response.json({ note: secret }, { headers })
      case 'network error':
      case 'silence':
    }
    throw Object.assign(new TypeError(`fetch failed: ${secret}`), {
      cause: Object.assign(new Error(secret), { code: 'ECONNRESET', body: secret }),
    })
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.deaf) return new Promise((resolve) => setTimeout(resolve, ms))
    return wait(ms, signal)
  }

  #secret(number: number): string {
    return `SECRET~${this.model.name}~${number}`
  }
}

/** Waits on the faked clock; leaves no timer behind if the signal aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
