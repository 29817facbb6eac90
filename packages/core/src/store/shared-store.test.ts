import { expect, test } from 'vitest'
import { MemoryStore } from '../../test/memory-store.ts'
import { sharedStore, type StoreKey } from '../fleet.ts'
import { createTokenManager, oauthIssuer, type ClientCredentials, type TokenManager } from '../index.ts'

const first = 'first-key-of-32-characters-or-more'
const second = 'second-key-of-32-characters-or-more'
const store = new MemoryStore()
const sent: string[] = []

function manager(key: StoreKey | undefined, credentials: ClientCredentials[]): TokenManager<'partner'> {
  return createTokenManager({
    issuers: { partner: oauthIssuer({ tokenEndpoint: 'https://auth.example.com/token', credentials }) },
    apis: [],
    store: sharedStore(store, { key }),
    async fetch(_url, { body }) {
      const kind = body.has('client_assertion') ? 'assertion' : 'secret'
      sent.push(kind)
      return kind === 'secret'
        ? Response.json({ error: 'invalid_client' }, { status: 401 })
        : Response.json({ access_token: `token-${sent.length}`, token_type: 'Bearer', expires_in: 3_600 })
    },
  })
}

const secret = { clientId: 'client-1', clientSecret: 'secret-1' }
// encrypted, so that nothing of it is read
const asserted = { clientId: 'client-1', assertion: () => 'eyJhIjoxfQ.a.b.c.d' }

test('a store without a key of its own refuses a client with an assertion at start, by name', () => {
  expect(() => manager(undefined, [secret, asserted])).toThrow(
    '`store` is a store without a `key`, but `issuers.partner.credentials` has an assertion instead of a secret to encrypt tokens with; allowed: redisTokenStore({ client, key }), fileTokenStore(folder, { key }), or sharedStore(store, { key })',
  )
  expect(() => manager(undefined, [secret])).not.toThrow()
})

test.each([
  ['', 'empty'],
  ['short', 'too short'],
  [[], 'an empty array'],
  [[first, 7], 'a number'],
])('the key %j is refused', (key, given) => {
  const create = (): unknown => sharedStore(store, { key: key as StoreKey })
  expect(create).toThrow(`\`key\` is ${given}; allowed: a string of 32 characters or more`)
})

test('processes share the token of an assertion while the key is rotated, and the refusal of the secret before it', async () => {
  sent.length = 0
  const values: string[] = []
  for (const key of [first, [first, second], () => [second, first]]) {
    await using tokens = manager(key, [secret, asserted])
    values.push((await tokens.getToken('partner')).value)
  }
  expect(sent).toEqual(['secret', 'assertion'])
  expect(new Set(values)).toEqual(new Set(['token-2']))
})

test('a key function that fails is an error without its text', async () => {
  await using tokens = manager(() => {
    throw new Error('secret-1')
  }, [asserted])
  const failure = tokens.getToken('partner')
  await expect(failure).rejects.toThrow("the store's `key` function failed")
  await expect(failure).rejects.not.toThrow('secret-1')
})
