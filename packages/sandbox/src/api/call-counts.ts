/** Results of the calls to one API since the start or the last reset. */
export interface ApiCounts {
  /** All calls that arrived. */
  calls: number
  /** Calls with any status other than 401, 429 or 5xx. */
  answered: number
  /** Calls that got a 401. */
  rejected: number
  /** Calls that got a 429. */
  limited: number
  /** Calls that got a 5xx, or a cut connection. */
  failed: number
  /** The highest number of calls under way at the same time. */
  maxConcurrent: number
  /** The highest number of calls in any window, for each limit of the rate policy in its order; empty without a policy. */
  maxInWindow: number[]
}

const none = { calls: 0, answered: 0, rejected: 0, limited: 0, failed: 0, maxConcurrent: 0 }

export class CallCounts {
  #counts = { ...none }
  #underway = 0

  arrived(): void {
    this.#underway += 1
    this.#counts.calls += 1
    this.#counts.maxConcurrent = Math.max(this.#counts.maxConcurrent, this.#underway)
  }

  responded(status: number | 'cut'): void {
    this.#counts[outcomeOf(status)] += 1
  }

  left(): void {
    this.#underway -= 1
  }

  seen(): Omit<ApiCounts, 'maxInWindow'> {
    return { ...this.#counts }
  }

  reset(): void {
    this.#counts = { ...none }
  }
}

function outcomeOf(status: number | 'cut'): 'answered' | 'rejected' | 'limited' | 'failed' {
  if (status === 401) return 'rejected'
  if (status === 429) return 'limited'
  return status === 'cut' || status >= 500 ? 'failed' : 'answered'
}
