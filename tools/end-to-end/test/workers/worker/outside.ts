// A worker that asks for a token while it loads, where the runtime allows no request, and again in a handler.
import { createTokenManager, generalIssuer, isTokenlaneError } from '@tokenlane/core'
import { env } from 'cloudflare:workers'

import type { Surroundings } from '../workerd.ts'

const { authUrl, credentials } = (env as { SANDBOX: Surroundings }).SANDBOX
const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl, credentials: credentials.general }) },
  apis: [],
})

const atLoad = await outcome()

async function outcome(): Promise<unknown> {
  try {
    await tokens.warmUp()
    return 'token'
  } catch (error) {
    return isTokenlaneError(error) ? error.code : String(error)
  }
}

export default {
  async fetch(): Promise<Response> {
    return Response.json([atLoad, await outcome()])
  },
}
