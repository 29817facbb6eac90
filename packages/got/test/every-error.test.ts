import type { TokenManager } from '@tokenlane/core'
import { provocations, provoke, type Send } from '@tokenlane/testing/every-error'
import got from 'got'
import { expect, test } from 'vitest'

import { gotTokens } from '../src/index.ts'

const attach = (tokens: TokenManager): Send => {
  const client = got.extend({ retry: { limit: 0 } }, gotTokens(tokens))
  return async (url, { signal, tokenlane }) =>
    client(url, { ...(signal && { signal }), context: { tokenlane } })
}

test.each(provocations)('$name shows no secret and no token', async (provocation) => {
  const { code, leaks } = await provoke(provocation, attach)
  expect(leaks).toEqual([])
  expect(code ?? '').toMatch(provocation.code ?? /^$/)
})
