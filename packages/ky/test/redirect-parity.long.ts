// Long: 257 redirects that those of fetch are like.
import { bareFetch, compareRedirects, redirectCases } from '@tokenlane/testing/redirect-parity'
import ky from 'ky'
import { expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'

const bare = ky.create({ retry: 0, throwHttpErrors: false })

test.each(redirectCases)('is followed as by ky alone: $name', async (given) => {
  const { bare: seen, managed } = await compareRedirects(given, {
    bare: bare.extend({ fetch: bareFetch }),
    attach: (tokens) => bare.extend(kyTokens(tokens)),
  })
  expect(managed).toEqual(seen)
})
