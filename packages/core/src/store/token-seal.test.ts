import { expect, test } from 'vitest'
import { sealOf } from './token-seal.ts'

const endpoint = ['https://auth.example.com/token']
const client = { clientId: 'client-1', clientSecret: 'secret-1' }
const stored = { token: 'token-1', expiresAt: Date.UTC(2026, 10, 21), lifetime: 3_600_000 }

test('a process with the same secret opens what another one sealed', async () => {
  const entry = await (await sealOf(endpoint, client)).seal(stored)
  expect(await (await sealOf(endpoint, { ...client })).open(entry)).toEqual(stored)
})

test('a client with a PKCS#12 file is sealed with the file and its passphrase', async () => {
  const owner = { clientId: 'client-1', pfx: 'MIIB', passphrase: 'a' }
  const entry = await (await sealOf(endpoint, owner)).seal(stored)
  expect(await (await sealOf(endpoint, { ...owner })).open(entry)).toEqual(stored)
  for (const other of [
    { ...owner, pfx: 'MIIC' },
    { ...owner, passphrase: 'b' },
  ])
    expect(await (await sealOf(endpoint, other)).open(entry)).toBeUndefined()
})

test('no two entries are the same', async () => {
  const seal = await sealOf(endpoint, client)
  expect(await seal.seal(stored)).not.toBe(await seal.seal(stored))
})

test('a token of 100 KiB is sealed as well', async () => {
  const seal = await sealOf(endpoint, client)
  const long = { ...stored, token: 'a'.repeat(102_400) }
  expect(await seal.open(await seal.seal(long))).toEqual(long)
})

const others = {
  'another secret': [endpoint, { ...client, clientSecret: 'secret-2' }],
  'another client': [endpoint, { ...client, clientId: 'client-2' }],
  'another scope': [[...endpoint, ['scope', 'WebLinkAPI']], client],
  'another issuer': [['https://weblink-auth.example.com/token'], client],
} as const

test.each(Object.entries(others))('%s has another name and opens nothing', async (_, [place, owner]) => {
  const [mine, other] = await Promise.all([sealOf(endpoint, client), sealOf(place, owner)])
  expect(other.name).not.toBe(mine.name)
  expect(await other.open(await mine.seal(stored))).toBeUndefined()
})

test('an entry with any character changed opens not', async () => {
  const seal = await sealOf(endpoint, client)
  const entry = await seal.seal(stored)
  // the last one may carry bits that decoding ignores
  for (let index = 0; index < entry.length - 1; index += 1) {
    const changed = entry.slice(0, index) + (entry[index] === 'A' ? 'B' : 'A') + entry.slice(index + 1)
    expect(await seal.open(changed)).toBeUndefined()
  }
})

test('a name may be a part of any key', async () => {
  expect((await sealOf(endpoint, client)).name).toMatch(/^[\w-]{22}$/)
})

const key = (name: string): string => name.repeat(32)
const asserted = { clientId: 'client-1', assertion: () => 'jwt' }

test('a client with assertions is sealed with the key of the store, which opens the entry of any process', async () => {
  const entry = await (await sealOf(endpoint, asserted, [key('a')])).seal(stored)
  const other = await sealOf(endpoint, { ...asserted, assertion: () => 'another' }, [key('a')])
  expect(await other.open(entry)).toEqual(stored)
  expect(await (await sealOf(endpoint, asserted, [key('b')])).open(entry)).toBeUndefined()
  await expect(sealOf(endpoint, asserted)).rejects.toThrow('needs its own `key`')
})

test('while the key of the store is rotated, every process finds and opens what another one sealed', async () => {
  const steps = [[key('a')], [key('a'), key('b')], [key('b'), key('a')], [key('b')]]
  const seals = await Promise.all(steps.map((keys) => sealOf(endpoint, asserted, keys)))
  expect(new Set(seals.map(({ name }) => name)).size).toBe(1)
  for (const [index, seal] of seals.entries())
    for (const next of seals.slice(Math.max(0, index - 1), index + 2))
      expect(await next.open(await seal.seal(stored))).toEqual(stored)
})

test('a secret and an assertion of one client have entries of their own: a refusal of one is none of the other', async () => {
  const [bySecret, byAssertion] = await Promise.all([
    sealOf(endpoint, client, [key('a')]),
    sealOf(endpoint, asserted, [key('a')]),
  ])
  expect(bySecret.name).not.toBe(byAssertion.name)
})
