import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig
type Fetch = typeof globalThis.fetch
type Judge = (response: Response) => Promise<Response>

/** axios passes what it does not know on to `fetch`. */
interface Judged extends RequestInit {
  readonly tokenlaneJudge?: Judge
}

interface FetchConfig {
  readonly fetchOptions?: Judged
  readonly env?: { readonly fetch?: Fetch | undefined }
}

/** Returns the options for `fetch`: no version of axios' adapter shows a redirect before following it, so none is followed. */
export function withoutRedirects(given: Config): RequestInit {
  const { fetchOptions } = given as FetchConfig
  const redirect = fetchOptions?.redirect ?? 'follow'
  return { ...fetchOptions, redirect: redirect === 'follow' ? 'manual' : redirect }
}

/** Returns the options of axios' adapter for `fetch`. From axios 1.12 on it takes a `fetch`, so that unwanted bodies are not read. */
export function judgedFetchOptions(given: Config, judge: Judge): object {
  const { env } = given as FetchConfig
  const fetchOptions: Judged = { ...withoutRedirects(given), tokenlaneJudge: judge }
  return { fetchOptions, env: { ...env, fetch: judgingFetch(env?.fetch) } }
}

/** By the `fetch` that they stand for: axios keeps what it makes of each. */
const judging = new WeakMap<Fetch, Fetch>()

function judgingFetch(given: Fetch = currentFetch): Fetch {
  let made = judging.get(given)
  if (made === undefined) {
    made = async (input, init: Judged = {}) => {
      const { tokenlaneJudge: judge, ...rest } = init
      const response = await given(input, rest)
      return judge?.(response) ?? response
    }
    judging.set(given, made)
  }
  return made
}

const currentFetch: Fetch = (input, init) => globalThis.fetch(input, init)
