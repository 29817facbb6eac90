import { callers, namedCallers } from '@tokenlane/testing/caller-stack'
import got from 'got'
import { expect, test } from 'vitest'

import { gotTokens } from '../src/index.ts'

test('an error for want of a token names the function that made the call', async () => {
  const named = await namedCallers((tokens) => got.extend(gotTokens(tokens)))
  expect(named).toEqual(callers)
})
