import { spawnSync } from 'node:child_process'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTokenManager, type Api, type TokenlaneError, type TokenManager } from '../src/index.ts'
import { fakeService, refusal } from './fake-issuer.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const baseUrl = 'https://api.example.com/'
const apis = {
  'an API without a rate policy': { baseUrl, issuer: 'general' },
  'an API with a rate policy': {
    baseUrl,
    issuer: 'general',
    ratePolicy: { limits: [{ quota: 25, window: 1_000 }], concurrency: 1 },
  },
}

async function firstCaller(call: () => Promise<unknown>): Promise<unknown> {
  return await call()
}

async function secondCaller(call: () => Promise<unknown>): Promise<unknown> {
  return await call()
}

const ways: Record<string, (tokens: TokenManager) => Promise<unknown>> = {
  getToken: (tokens) => tokens.getToken('general'),
  send: (tokens) => (tokens.route(baseUrl) as Api).send(async () => expect.fail('sent without a token')),
  admit: async (tokens) => (tokens.route(baseUrl) as Api).admit(),
}

const cases = Object.entries(apis).flatMap(([what, api]) =>
  Object.entries(ways).map(([name, way]) => [name, what, api, way] as const),
)

test.each(cases)('%s: each caller of %s gets an error of its own, with its own stack', async (...given) => {
  const [, , api, way] = given
  const { tokens, issuer } = fakeService({}, { apis: [api] })
  issuer.respondWith(() => refusal())
  const errors: TokenlaneError[] = []
  for (const caller of [firstCaller, secondCaller, firstCaller]) {
    const outcome = caller(() => way(tokens)).catch((error: unknown) => errors.push(error as TokenlaneError))
    await vi.advanceTimersByTimeAsync(10)
    await outcome
  }
  const [first, second, third] = errors as [TokenlaneError, TokenlaneError, TokenlaneError]
  expect(issuer.count).toBe(1)
  expect(new Set(errors).size).toBe(3)
  expect(first.stack).toContain('firstCaller')
  expect(second.stack).toContain('secondCaller')
  expect(second.stack).not.toContain('firstCaller')
  for (const error of errors)
    expect(error).toMatchObject({
      code: 'TOKEN_REQUEST_REFUSED',
      issuer: 'general',
      status: 401,
      oauthError: 'invalid_client',
    })
  // the issuer's response is no error, and nothing is said twice
  for (const error of errors) expect(error.cause).toBeUndefined()
  expect(third.message).toBe(first.message)
})

test('200 calls of a refused client leave each error short, though a client appends their stacks', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => refusal())
  let longest = 0
  for (let call = 0; call < 200; call += 1) {
    const error = (await tokens.getToken('general').catch((reason: unknown) => reason)) as Error
    // as axios does
    error.stack += `\n${String(new Error().stack)}`
    longest = Math.max(longest, String(error.stack).length)
  }
  expect(longest).toBeLessThan(8_000)
})

test('several wrong options are printed once each', () => {
  const wrong = Array.from({ length: 9 }, (_, index) => ({
    baseUrl: `ftp://${index}.example.com/`,
    issuer: 'general',
  }))
  const create = (): unknown =>
    createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'a', clientSecret: 'b' },
        },
      },
      apis: wrong as never,
    })
  const error = failureOf(create) as TokenlaneError
  expect(error.failures).toHaveLength(9)
  const printed = inspect(error, { depth: Infinity })
  expect(printed.match(/apis\[4\]/g)).toHaveLength(1)
  expect(printed).toContain("code: 'INVALID_OPTIONS'")
  expect(JSON.stringify(error)).not.toContain('failures')
})

test('a process that ends by several wrong options prints each once', () => {
  const options = JSON.stringify({
    a: 1,
    issuers: { general: { tokenEndpoint: 'x' } },
    apis: [{ baseUrl: 'x' }],
  })
  const index = JSON.stringify(new URL('../src/index.ts', import.meta.url))
  const code = `import { createTokenManager } from ${index}\ncreateTokenManager(${options})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  for (const path of ['a', 'issuers.general.tokenEndpoint', 'apis[0].baseUrl'])
    expect(stderr.split(`\`${path}\``), stderr).toHaveLength(2)
  expect(stderr.split('\n').length).toBeLessThan(30)
})

function failureOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}
