import type { TokenManager } from '@tokenlane/core'
import { provocations, provoke, type Send } from '@tokenlane/conformance/every-error'
import axios from 'axios'
import { expect, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

// the conformance suite has the adapter for Node

const attach = (tokens: TokenManager): Send => {
  const client = axios.create({ adapter: 'fetch' })
  attachTokens(client, tokens)
  return (url, { signal, tokenlane }) => client.get(url, { ...(signal && { signal }), tokenlane })
}

test.each(provocations)('$name shows no secret and no token by way of fetch', async (provocation) => {
  const { code, leaks } = await provoke(provocation, attach)
  expect(leaks).toEqual([])
  expect(code ?? '').toMatch(provocation.code ?? /^$/)
})
