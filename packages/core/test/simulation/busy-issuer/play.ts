import { Random } from '../../../../../tools/testing/src/random.ts'
import { createTokenManager, type TokenManager, type TokenManagerOptions } from '../../../src/index.ts'
import { createTenants } from '../../../src/tenants.ts'
import { VirtualClock } from '../virtual-clock.ts'

/** Two minutes of an endpoint, in a time of its own: 20 processes, which start together and know nothing of one another. */
export function startOf20(seed: number, refuse?: () => Response | Error): Promise<LimitedEndpoint> {
  const endpoint = new LimitedEndpoint(1, refuse)
  return play(seed, endpoint, 120, () =>
    // a URL and a fetch of its own for each
    Array.from({ length: 20 }, (_, process) =>
      createTokenManager(optionsOf(`https://auth.example.com/${process}`, () => endpoint.fetch())),
    ),
  )
}

/** 20 seconds of an endpoint of 5 requests a second: 40 tenants of one process. */
export function startOf40Tenants(seed: number, refuse?: () => Response | Error): Promise<LimitedEndpoint> {
  const endpoint = new LimitedEndpoint(5, refuse)
  return play(seed, endpoint, 20, () => {
    const tenants = createTenants({
      options: (id) => optionsOf('https://auth.example.com/token', endpoint.fetch, id),
    })
    return Array.from({ length: 40 }, (_, id) => tenants.get(`tenant-${id}`))
  })
}

function optionsOf(
  tokenEndpoint: string,
  fetch: () => Promise<Response>,
  clientId = 'a',
): TokenManagerOptions {
  return {
    issuers: { general: { tokenEndpoint, credentials: { clientId, clientSecret: 'b' } } },
    apis: [],
    fetch,
  }
}

async function play(
  seed: number,
  endpoint: LimitedEndpoint,
  seconds: number,
  managers: () => readonly TokenManager[],
): Promise<LimitedEndpoint> {
  // what the first token request loads comes in no time of this clock
  await createTokenManager(optionsOf('https://auth.example.com/', new LimitedEndpoint(1).fetch)).warmUp()
  const clock = new VirtualClock()
  const drawn = Math.random
  clock.install()
  Math.random = new Random(seed).next
  try {
    for (const tokens of managers()) void untilToken(tokens)
    await clock.pass(seconds * 1_000)
    return endpoint
  } finally {
    Math.random = drawn
    clock.uninstall()
  }
}

/** Lets an application ask until it has its token, half a second after each failure. */
export async function untilToken(tokens: TokenManager): Promise<void> {
  for (;;) {
    const failed = await tokens.getToken('general').then(
      () => false,
      () => true,
    )
    if (!failed) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

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
