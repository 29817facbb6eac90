// A worker that makes calls: its managers live as long as it does, and serve all of its requests.
import { createTokenManager, generalIssuer, isTokenlaneError, type RatePolicy } from '@tokenlane/core'
import { createFetch, type TokenlaneFetch } from '@tokenlane/fetch'

import type { Surroundings } from '../workerd.ts'

const managers = new Map<string, TokenlaneFetch>()

export default {
  async fetch(request: Request, { SANDBOX }: { SANDBOX: Surroundings }): Promise<Response> {
    const { manager, path, ms, leaveAfter, ...asked } = (await request.json()) as Asked
    const outcome = outcomeOf(() => managed(manager, asked, SANDBOX), { url: SANDBOX.apiUrl + path, ms })
    if (leaveAfter === undefined) return Response.json({ outcome: await outcome })
    // with the response the runtime ends the request, and the call with it
    await new Promise((resolve) => setTimeout(resolve, leaveAfter))
    return Response.json({ outcome: 'left' })
  },
}

async function outcomeOf(
  fetchOf: () => TokenlaneFetch,
  { url, ms }: { readonly url: string; readonly ms: number | undefined },
): Promise<unknown> {
  try {
    const response = await fetchOf()(url, { signal: ms === undefined ? null : AbortSignal.timeout(ms) })
    await response.text()
    return response.status
  } catch (error) {
    const { name, message } = error as Error
    return isTokenlaneError(error) ? error.code : `${name}: ${message}`
  }
}

function managed(
  name: string,
  { renewBefore, ratePolicy }: Pick<Asked, 'renewBefore' | 'ratePolicy'>,
  { authUrl, apiUrl, credentials }: Surroundings,
): TokenlaneFetch {
  const known = managers.get(name)
  if (known !== undefined) return known
  const tokens = createTokenManager({
    issuers: { general: generalIssuer({ authUrl, credentials: credentials.general, renewBefore }) },
    apis: [{ baseUrl: apiUrl, issuer: 'general', ratePolicy }],
  })
  const made = createFetch(tokens)
  managers.set(name, made)
  return made
}

/** What a test asks the worker for. */
export interface Asked {
  /** The manager, made by the first request that names it. */
  readonly manager: string
  readonly renewBefore?: number
  readonly ratePolicy?: RatePolicy
  /** Below the API. */
  readonly path: string
  /** Aborts the call after this time, in milliseconds. */
  readonly ms?: number
  /** Responds after this time, in milliseconds, without waiting for the call. */
  readonly leaveAfter?: number
}
