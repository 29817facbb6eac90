import type { Emit } from '../events.ts'
import { readPolicy, type ResponseHead } from './rate-limit-headers.ts'
import type { RateLimit } from './rate-policy.ts'

/** Headers that differ from call to call must not make events without end. */
const mostReported = 16

/** Reports once for each difference that an API's headers name another policy than the configured one. */
export class PolicyWatch {
  readonly #api: string
  readonly #emit: Emit
  /** Made for the first difference, since a process may have many queues. */
  #reported: Set<string> | undefined
  #configured: readonly RateLimit[]

  constructor(api: string, configured: readonly RateLimit[], emit: Emit) {
    this.#api = api
    this.#configured = configured
    this.#emit = emit
  }

  /** Compares with another policy from now on. */
  set configured(limits: readonly RateLimit[]) {
    this.#configured = limits
    this.#reported = undefined
  }

  /** Returns whether the headers name a policy at all. */
  readPolicy(response: ResponseHead): boolean {
    if (!this.#emit?.isObserved || (this.#reported?.size ?? 0) >= mostReported) return false
    const seen = readPolicy(response)
    const unknown = seen.filter((limit) => !this.#configured.some((other) => isSame(limit, other)))
    const difference = unknown.map(({ quota, window }) => `${quota}/${window}`).join()
    if (unknown.length > 0 && this.#reported?.has(difference) !== true) {
      this.#reported ??= new Set()
      this.#reported.add(difference)
      this.#emit({ type: 'policy.differs', api: this.#api, configured: this.#configured, seen })
    }
    return seen.length > 0
  }
}

function isSame(a: RateLimit, b: RateLimit): boolean {
  return a.quota === b.quota && a.window === b.window
}
