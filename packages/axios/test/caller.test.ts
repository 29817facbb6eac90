import { callers, namedCallers } from '@tokenlane/testing/caller-stack'
import axios from 'axios'
import { expect, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

test('an error for want of a token names the function that made the call', async () => {
  const named = await namedCallers((tokens) => {
    const client = axios.create()
    attachTokens(client, tokens)
    return (url) => client.get(url)
  })
  expect(named).toEqual(callers)
})
