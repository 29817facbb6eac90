import { sharedStore } from '../fleet.ts'
import { expect, test } from 'vitest'
import { FakeIssuer, refusal, unavailable } from '../../test/fake-issuer.ts'
import { inspectionOf } from '../adapter.ts'
import { createTokenManager, type Credentials, type TokenManager } from '../index.ts'

const clients = (...ids: string[]): Credentials[] =>
  ids.map((clientId) => ({ clientId, clientSecret: `secret-of-${clientId}` }))

/** A manager whose issuer refuses the clients with a name of `refused`. */
function managerOf(
  credentials: Credentials[] | (() => Credentials[]),
  refused: readonly string[] = [],
): { tokens: TokenManager; issuer: FakeIssuer } {
  const issuer = new FakeIssuer()
  issuer.respondWith(() =>
    refused.includes(String(issuer.requests.at(-1)?.['client_id'])) ? refusal() : issuer.token(),
  )
  const tokens = createTokenManager({
    issuers: { general: { tokenEndpoint: 'https://auth.example.com/token', credentials } },
    apis: [],
    fetch: issuer.fetch,
  })
  return { tokens, issuer }
}

const asked = ({ requests }: FakeIssuer): unknown[] => requests.map((form) => form['client_id'])

test.each([
  ['both live', [], ['accepted', 'accepted'], ['old', 'new']],
  ['the second one refused', ['new'], ['accepted', 'refused'], ['old', 'new']],
  ['the first one refused', ['old'], ['refused', 'accepted'], ['old', 'new']],
])('of two clients, %s, each is asked with once', async (_, refused, outcomes, requests) => {
  const { tokens, issuer } = managerOf(clients('old', 'new'), refused)
  await tokens.getToken('general')
  const found = await inspectionOf(tokens)?.tryClients('general')
  expect(found?.map(({ outcome }) => outcome)).toEqual(outcomes)
  expect(found?.map(({ clientId }) => clientId)).toEqual(['old', 'new'])
  expect(asked(issuer)).toEqual(requests)
})

test('the same client twice, or one alone, is not asked with again', async () => {
  for (const list of [clients('one'), clients('one', 'one')]) {
    const { tokens, issuer } = managerOf(() => list)
    await tokens.getToken('general')
    expect(await inspectionOf(tokens)?.tryClients('general')).toEqual([
      { clientId: 'one', outcome: 'accepted' },
    ])
    expect(asked(issuer)).toEqual(['one'])
  }
})

test('what looks wrong about a client is named, and not quoted', async () => {
  const { tokens } = managerOf([
    { clientId: '<client-id>', clientSecret: '"secret-1"' },
    { clientId: 'client-2', clientSecret: 'secret-2' },
  ])
  expect(await inspectionOf(tokens)?.clients('general')).toEqual([
    {
      clientId: '<client-id>',
      oddities: [
        { field: 'clientId', oddity: 'placeholder' },
        { field: 'clientSecret', oddity: 'quotes' },
      ],
    },
    { clientId: 'client-2' },
  ])
})

test('a failure that is not about the client leaves it unknown', async () => {
  const { tokens, issuer } = managerOf(clients('old', 'new'))
  await tokens.getToken('general')
  issuer.respondOnceWith(() => unavailable())
  expect(await inspectionOf(tokens)?.tryClients('general')).toMatchObject([{}, { outcome: 'unknown' }])
})

test('a tool gets the objects of the application; what is not a manager has none', () => {
  const store = sharedStore({ claim: never, write: never, release: never, drop: never })
  const limiter = never
  const issuers = {
    general: { tokenEndpoint: 'https://auth.example.com/token', credentials: clients('one') },
  }
  const tokens = createTokenManager({ issuers, apis: [], store, limiter, fetch: never })
  expect(inspectionOf(tokens)).toMatchObject({ store, limiter, fetch: never })
  for (const given of [undefined, null, 'tokens', {}]) expect(inspectionOf(given)).toBeUndefined()
})

function never(): never {
  throw new Error('not to be called')
}
