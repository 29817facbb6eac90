const second = 1_000

/** An endpoint that takes `most` requests in each second, and counts the refused ones, too. */
export class LimitedEndpoint {
  /** When each request came. */
  readonly requests: number[] = []
  /** When each token was issued. */
  readonly granted: number[] = []
  readonly #most: number
  readonly #refuse: () => Response | Error

  constructor(most: number, refuse: () => Response | Error = tooMany) {
    this.#most = most
    this.#refuse = refuse
  }

  readonly fetch = async (): Promise<Response> => {
    const now = performance.now()
    this.requests.push(now)
    if (this.requests.filter((at) => at > now - second).length > this.#most) {
      const refusal = this.#refuse()
      if (refusal instanceof Error) throw refusal
      return refusal
    }
    this.granted.push(now)
    return Response.json({ access_token: `t${this.granted.length}`, expires_in: 3_600 })
  }
}

function tooMany(): Response {
  return Response.json({ error: 'too_many_requests' }, { status: 429 })
}
