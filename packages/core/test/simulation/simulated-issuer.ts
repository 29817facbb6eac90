import type { Random } from '../../../../tools/testing/src/random.ts'
import type { VirtualClock } from './virtual-clock.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** How an issuer fails. */
type Fault = 'unavailable' | 'unavailable with Retry-After' | 'network error' | 'silence' | 'no token'

/** An issuer that is well most of the time: down now and then, for a second or for hours, in one way or another. */
export class SimulatedIssuer {
  /** Until when each token lives, by the issuer's clock. */
  readonly #expiry = new Map<string, number>()
  readonly #revoked = new Set<string>()
  readonly #clock: VirtualClock
  readonly #random: Random
  #secret = 1
  #former = 0
  /** Until when the former secret is accepted too. */
  #overlapUntil = 0
  #rotateAt: number
  #downAt: number
  #upAt = 0
  #fault: Fault = 'unavailable'
  #revokeAt: number
  #issued = 0
  requests = 0
  issued = 0
  faults = 0
  refusals = 0
  rotations = 0
  outages = 0
  revocations = 0

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock
    this.#random = random
    this.#downAt = random.exponential(8 * hour)
    this.#revokeAt = random.exponential(30 * day)
    this.#rotateAt = random.exponential(180 * day)
  }

  /** Brings the issuer up to the present. */
  #advance(): void {
    const { now } = this.#clock
    if (now >= this.#downAt) {
      this.outages += 1
      this.#upAt = this.#downAt + this.#random.logUniform(second / 5, hour)
      this.#downAt = this.#upAt + this.#random.exponential(8 * hour)
      this.#fault = this.#random.pick([
        'unavailable',
        'unavailable with Retry-After',
        'network error',
        'silence',
        'no token',
      ])
    }
    if (now >= this.#revokeAt) {
      this.revocations += 1
      for (const token of this.#expiry.keys()) this.#revoked.add(token)
      this.#revokeAt = now + this.#random.exponential(30 * day)
    }
    if (now >= this.#rotateAt) {
      this.rotations += 1
      this.#former = this.#secret
      this.#secret += 1
      this.#overlapUntil = now + this.#random.pick([0, hour, 7 * day])
      this.#rotateAt = now + this.#random.exponential(180 * day)
    }
  }

  /** What the application's vault has. */
  get credentials(): { clientId: string; clientSecret: string }[] {
    this.#advance()
    return [this.#secret, this.#former]
      .filter((number) => number > 0)
      .map((number) => ({ clientId: 'client', clientSecret: `secret-${number}` }))
  }

  /** Whether it has been well for so long. */
  wellFor(ms: number): boolean {
    this.#advance()
    return this.#clock.now - this.#upAt >= ms
  }

  /** What an API finds about a token that it gets. */
  judge(token: string): 'live' | 'revoked' | 'expired' {
    this.#advance()
    if ((this.#expiry.get(token) ?? 0) <= this.#clock.now) return 'expired'
    return this.#revoked.has(token) ? 'revoked' : 'live'
  }

  /** Responds to a token request. */
  async respond({ body, signal }: RequestInit = {}): Promise<Response> {
    this.requests += 1
    this.#advance()
    const isDown = this.#clock.now < this.#upAt
    if (isDown && this.#fault === 'silence') return this.#silence(signal as AbortSignal)
    await this.#takes(this.#random.logUniform(5, 800), signal as AbortSignal)
    if (isDown) return this.#failure()
    const secret = (body as URLSearchParams).get('client_secret')
    const { now } = this.#clock
    if (
      secret !== `secret-${this.#secret}` &&
      !(secret === `secret-${this.#former}` && now < this.#overlapUntil)
    ) {
      this.refusals += 1
      return Response.json({ error: 'invalid_client' }, { status: 401 })
    }
    this.issued += 1
    const token = `token-${(this.#issued += 1)}`
    // one process: the tokens before the last two are forgotten
    this.#expiry.delete(`token-${this.#issued - 2}`)
    this.#revoked.delete(`token-${this.#issued - 2}`)
    this.#expiry.set(token, now + hour)
    return Response.json({ access_token: token, token_type: 'Bearer', expires_in: 3_600 })
  }

  #failure(): Response {
    this.faults += 1
    switch (this.#fault) {
      case 'unavailable':
        return new Response('', { status: 503 })
      case 'unavailable with Retry-After': {
        const seconds = Math.ceil(this.#random.logUniform(1, 120))
        return new Response('', { status: 503, headers: { 'retry-after': String(seconds) } })
      }
      case 'no token':
        return new Response('<html>')
      case 'network error':
      case 'silence':
    }
    throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })
  }

  #silence(signal: AbortSignal): Promise<never> {
    this.faults += 1
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  }

  #takes(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', abort)
        resolve()
      }, ms)
      const abort = (): void => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
    })
  }
}
