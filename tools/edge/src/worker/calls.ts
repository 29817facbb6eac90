// A worker that makes calls: its managers live as long as it does, and serve all of its requests.
import { createTokenManager, generalIssuer, isTokenlaneError, type TokenManager } from '@tokenlane/core'
import { createFetch, type TokenlaneFetch } from '@tokenlane/fetch'

import type { Surroundings } from '../surroundings.ts'
import type { Asked } from './asked.ts'

interface Managed {
  readonly tokens: TokenManager
  readonly fetch: TokenlaneFetch
}

const managers = new Map<string, Managed>()

export default {
  async fetch(request: Request, { SANDBOX }: { SANDBOX: Surroundings }): Promise<Response> {
    const { manager, path, ms, leaveAfter, ...asked } = (await request.json()) as Asked
    const { tokens, fetch } = managed(manager, asked, SANDBOX)
    if (path === undefined) return Response.json(tokens.status())
    const outcome = outcomeOf(fetch, { url: SANDBOX.apiUrl + path, ms })
    if (leaveAfter === undefined) return Response.json({ outcome: await outcome })
    // with the response the runtime ends the request, and the call with it
    await new Promise((resolve) => setTimeout(resolve, leaveAfter))
    return Response.json({ outcome: 'left' })
  },
}

async function outcomeOf(
  fetch: TokenlaneFetch,
  { url, ms }: { readonly url: string; readonly ms: number | undefined },
): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: ms === undefined ? null : AbortSignal.timeout(ms) })
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
): Managed {
  const known = managers.get(name)
  if (known !== undefined) return known
  const tokens = createTokenManager({
    issuers: { general: generalIssuer({ authUrl, credentials: credentials.general, renewBefore }) },
    apis: [{ baseUrl: apiUrl, issuer: 'general', ratePolicy }],
  })
  const made = { tokens, fetch: createFetch(tokens) }
  managers.set(name, made)
  return made
}
