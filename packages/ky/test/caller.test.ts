import { callers, namedCallers } from '@tokenlane/testing/caller-stack'
import ky from 'ky'
import { expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'

test('an error for want of a token names the function that made the call', async () => {
  const named = await namedCallers((tokens) => ky.extend(kyTokens(tokens)))
  expect(named).toEqual(callers)
})
