import type { TokenManager } from '@tokenlane/core'
import { provocations, provoke, type Send } from '@tokenlane/testing/every-error'
import { expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

const attach = (tokens: TokenManager): Send => {
  const fetch = createFetch(tokens)
  return async (url, { signal = null, tokenlane }) => {
    const response = await fetch(url, { signal, tokenlane })
    await response.text()
    return response
  }
}

test.each(provocations)('$name shows no secret and no token', async (provocation) => {
  const { code, leaks } = await provoke(provocation, attach)
  expect(leaks).toEqual([])
  expect(code ?? '').toMatch(provocation.code ?? /^$/)
})
