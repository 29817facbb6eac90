import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { expect } from 'vitest'

const url = 'https://api.example.com/records'

/** Who made the calls of `namedCallers`, in their order. */
export const callers = ['first', 'second', 'first', 'second', 'first', 'second', 'first', 'second']

/**
 * Makes calls of a refused client, with and without a rate policy: some at once, and some that a remembered refusal fails.
 * Returns whom the stack of each error names. Each call must have an error of its own.
 *
 * @param clientOf returns what sends a call with the tokens of this manager.
 */
export async function namedCallers(
  clientOf: (tokens: TokenManager) => (url: string) => PromiseLike<unknown>,
): Promise<string[]> {
  const named: string[] = []
  for (const ratePolicy of [undefined, { limits: [{ quota: 5, window: 1_000 }] }]) {
    await using tokens = createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
        },
      },
      apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }],
      fetch: async () => Response.json({ error: 'invalid_client' }, { status: 401 }),
    })
    const send = clientOf(tokens)
    async function firstCaller(): Promise<unknown> {
      return await send(url)
    }
    async function secondCaller(): Promise<unknown> {
      return await send(url)
    }
    const together = [firstCaller(), secondCaller()].map((call) => call.catch((error: unknown) => error))
    const errors = [
      ...(await Promise.all(together)),
      await firstCaller().catch((error: unknown) => error),
      await secondCaller().catch((error: unknown) => error),
    ] as Error[]
    expect(new Set(errors).size).toBe(4)
    for (const { stack = '' } of errors)
      named.push(['first', 'second'].filter((name) => stack.includes(`${name}Caller`)).join())
  }
  return named
}
