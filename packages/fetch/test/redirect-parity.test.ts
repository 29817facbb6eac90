import { bareFetch, compareRedirects, redirectCases } from '@tokenlane/testing/redirect-parity'
import { expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

test.each(redirectCases)('is followed as by fetch alone: $name', async (given) => {
  const { bare, managed } = await compareRedirects(given, {
    bare: bareFetch,
    attach: (tokens) => createFetch(tokens),
  })
  expect(managed).toEqual(bare)
})
