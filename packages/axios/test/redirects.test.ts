import type { TokenManager } from '@tokenlane/core'
import { followRedirectsEverywhere, redirectStatuses } from '@tokenlane/testing/redirects'
import axios from 'axios'
import { expect, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

type Send = (url: string) => Promise<unknown>

const attach = (tokens: TokenManager): Send => {
  const client = axios.create({ validateStatus: () => true })
  attachTokens(client, tokens)
  return (url) => client.get(url)
}

test.each(redirectStatuses)('%i takes the token to its API, and nowhere else', async (status) => {
  const { astray, kept, outside } = await followRedirectsEverywhere(status, attach)
  expect(astray).toEqual([])
  // a client has to follow five of them
  const least = [301, 302, 303, 307, 308].includes(status)
    ? { kept: 6, outside: 15 }
    : { kept: 0, outside: 0 }
  expect(kept).toBeGreaterThanOrEqual(least.kept)
  expect(outside).toBeGreaterThanOrEqual(least.outside)
})
