import type { StoreClaim, TokenStore } from '@tokenlane/core/fleet'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

/** Everything the contract needs to know about a token store. */
export interface StoreDriver {
  /** The store's name in the tests. */
  readonly name: string
  /** Opens the store as another process would: all opened stores share their entries. */
  open(): TokenStore | Promise<TokenStore>
  /** Closes what was opened. */
  close?(): unknown
}

const patiently = { timeout: 10_000, interval: 5 }
/** In milliseconds. Long enough that no test outlasts it. */
const long = 60_000
/** In milliseconds. A test waits until it is over. */
const short = 150

/** Registers the tests that every token store must pass. Each test uses its own names, so the store need not be empty. */
export function storeContract(driver: StoreDriver): void {
  describe(`${driver.name}: the token store contract`, () => {
    let one: TokenStore
    let two: TokenStore
    beforeAll(async () => {
      one = await driver.open()
      two = await driver.open()
    })
    afterAll(() => driver.close?.())

    test('without an entry, one process gets the right to write, and the others find the name locked', async () => {
      const name = newName()
      const claims = await Promise.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : two).claim(name, undefined, long)),
      )
      expect(claims.filter((claim) => claim === 'locked')).toHaveLength(49)
      expect(claims.filter((claim) => fenceOf(claim) !== undefined)).toHaveLength(1)
    })

    test('names are independent of each other', async () => {
      const names = [newName(), newName()] as const
      for (const name of names) expect(await fence(one, name)).toBeTypeOf('string')
      expect(await two.claim(names[0], undefined, long)).toBe('locked')
    })

    test('every process finds what the holder of the right has written', async () => {
      const name = newName()
      await one.write(name, await fence(one, name), 'entry 1', long)
      for (const store of [one, two]) {
        const found = await store.claim(name, undefined, long)
        expect(found).toMatchObject({ entry: 'entry 1' })
        const { expiresIn = 1 } = found as { readonly expiresIn?: number }
        expect(expiresIn).toBeGreaterThan(0)
        expect(expiresIn).toBeLessThanOrEqual(long)
      }
    })

    test('an entry is kept as it was written, whatever is in it', async () => {
      const name = newName()
      const entry = `é "quotes" \\ {}\n${'x'.repeat(10_000)}`
      await one.write(name, await fence(one, name), entry, long)
      expect(await two.claim(name, undefined, long)).toMatchObject({ entry })
    })

    test('after its lifetime, an entry is gone', async () => {
      const name = newName()
      await one.write(name, await fence(one, name), 'entry', short)
      await vi.waitFor(async () => expect(await fence(two, name)).toBeTypeOf('string'), patiently)
    })

    test('an entry that equals the stale one may be replaced, and any other is returned', async () => {
      const name = newName()
      await one.write(name, await fence(one, name), 'old', long)
      expect(await two.claim(name, 'older', long)).toMatchObject({ entry: 'old' })
      const right = fenceOf(await two.claim(name, 'old', long))
      expect(right).toBeTypeOf('string')
      expect(await one.claim(name, 'old', long)).toBe('locked')
      await two.write(name, right!, 'new', long)
      expect(await one.claim(name, 'old', long)).toMatchObject({ entry: 'new' })
    })

    test('a right whose lease ran out goes to another process, and the first process can no longer use it', async () => {
      const name = newName()
      const first = await fence(one, name, short)
      const second = await vi.waitFor(() => fence(two, name), patiently)
      expect(second).not.toBe(first)
      await one.write(name, first, 'late', long)
      await one.release(name, first, 0)
      expect(await one.claim(name, undefined, long)).toBe('locked')
      await two.write(name, second, 'in time', long)
      expect(await one.claim(name, undefined, long)).toMatchObject({ entry: 'in time' })
    })

    test('a right that is given back goes to the next process', async () => {
      const name = newName()
      const right = await fence(one, name)
      await one.release(name, right, 0)
      expect(await vi.waitFor(() => fence(two, name), patiently)).not.toBe(right)
    })

    test('a right that is given back with a pause stays locked until the pause is over', async () => {
      const name = newName()
      const right = await fence(one, name)
      const start = performance.now()
      await one.release(name, right, short)
      expect(await two.claim(name, undefined, long)).toBe('locked')
      await vi.waitFor(() => fence(two, name), patiently)
      // the store's clock may be a little ahead
      expect(performance.now() - start).toBeGreaterThan(0.8 * short)
    })

    test('dropping removes only an entry that equals the given one', async () => {
      const name = newName()
      await one.write(name, await fence(one, name), 'entry', long)
      await two.drop(name, 'another')
      expect(await one.claim(name, undefined, long)).toMatchObject({ entry: 'entry' })
      await two.drop(name, 'entry')
      expect(await fence(one, name)).toBeTypeOf('string')
    })
  })
}

let names = 0

/** Returns a name of the form that core gives. */
function newName(): string {
  names += 1
  return `contract-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${names}`
}

function fenceOf(claim: StoreClaim): string | undefined {
  return typeof claim === 'object' && 'fence' in claim ? claim.fence : undefined
}

/** Returns the right to write under a name; rejects if this process does not get it. */
async function fence(store: TokenStore, name: string, lease = long): Promise<string> {
  const claim = await store.claim(name, undefined, lease)
  return fenceOf(claim) ?? expect.fail(`no right to write, but ${JSON.stringify(claim)}`)
}
