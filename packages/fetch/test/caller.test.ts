import { callers, namedCallers } from '@tokenlane/testing/caller-stack'
import { expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

test('an error for want of a token names the function that made the call', async () => {
  const named = await namedCallers(createFetch)
  expect(named).toEqual(callers)
})
