import tls from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSandbox } from '@tokenlane/sandbox'
import { mustAnswerThroughTrouble } from '@tokenlane/testing/server-story'
import { TOKENS } from './tokens.module.ts'
import { start } from './start.ts'
import type { TokenManager } from '@tokenlane/core'

test(
  'the server answers through an expiry and a refused secret, and ends in order',
  { timeout: 60_000 },
  async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    tls.setDefaultCACertificates([...tls.getCACertificates(), sandbox.ca])
    vi.stubEnv('AUTH_URL', sandbox.authUrl)
    vi.stubEnv('API_URL', sandbox.apiUrl)
    vi.stubEnv('GENERAL_CLIENT_ID', sandbox.credentials.general.clientId)
    vi.stubEnv('GENERAL_CLIENT_SECRET', sandbox.credentials.general.clientSecret)

    const app = await start(0)
    await mustAnswerThroughTrouble(await app.getUrl(), sandbox)

    const tokens = app.get<TokenManager>(TOKENS, { strict: false })
    await app.close()
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  },
)
