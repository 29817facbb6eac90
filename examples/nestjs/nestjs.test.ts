import { expect, test } from 'vitest'
import { mustAnswerThroughTrouble, openByEnvironment } from '@tokenlane/testing/example-programs'
import { TOKENS } from './tokens.module.ts'
import { start } from './start.ts'
import type { TokenManager } from '@tokenlane/core'

test('the server answers through an expiry and a refused secret, and ends in order', async () => {
  const sandbox = await openByEnvironment()

  const app = await start(0)
  await mustAnswerThroughTrouble(await app.getUrl(), sandbox)

  const tokens = app.get<TokenManager>(TOKENS, { strict: false })
  await app.close()
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
})
