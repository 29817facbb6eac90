import type { TokenManager } from '@tokenlane/core'
import { provocations, provoke, type Send } from '@tokenlane/testing/every-error'
import ky from 'ky'
import { expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'

const attach = (tokens: TokenManager): Send => {
  const client = ky.create({ retry: 0 }).extend(kyTokens(tokens))
  return async (url, { signal, tokenlane }) => {
    const response = await client(url, { ...(signal && { signal }), tokenlane })
    await response.text()
    return response
  }
}

test.each(provocations)('$name shows no secret and no token', async (provocation) => {
  const { code, leaks } = await provoke(provocation, attach)
  expect(leaks).toEqual([])
  expect(code ?? '').toMatch(provocation.code ?? /^$/)
})
