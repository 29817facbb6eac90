import type { TokenManager } from '@tokenlane/core'
import { provocations, provoke, type Send } from '@tokenlane/testing/every-error'
import axios from 'axios'
import { expect, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

const attach =
  (adapter: string) =>
  (tokens: TokenManager): Send => {
    const client = axios.create({ adapter })
    attachTokens(client, tokens)
    return (url, { signal, tokenlane }) => client.get(url, { ...(signal && { signal }), tokenlane })
  }

const cases = ['http', 'fetch'].flatMap((adapter) =>
  provocations.map((provocation) => ({ adapter, provocation, name: provocation.name })),
)

test.each(cases)('$name, by the $adapter adapter, shows no secret and no token', async (given) => {
  const { code, leaks } = await provoke(given.provocation, attach(given.adapter))
  expect(leaks).toEqual([])
  expect(code ?? '').toMatch(given.provocation.code ?? /^$/)
})
