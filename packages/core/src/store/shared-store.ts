import { isTokenlaneError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { isRecord, isText, refuse, refusingTo, shape } from '../options/check.ts'
import { guardedStore } from './guarded-store.ts'
import { sharedSource } from './shared-source.ts'
import { type ShareTokens, type SharedStore, sharing, type TokenStore } from './token-store.ts'

/**
 * What a store seals tokens with if their clients have no lasting secret, as with an assertion from outside: a string of 32
 * characters or more, such as the output of `openssl rand -base64 32`. Of several, the first seals and each
 * can open, so that keys can be rotated: `[old, new]` everywhere, then `[new, old]`, then `new`. A function is called
 * before each use of the store.
 */
export type StoreKey = KeyTexts | (() => KeyTexts | Promise<KeyTexts>)

type KeyTexts = string | readonly string[]

const shortestKey = 32

/**
 * Returns the value for a manager's `store` option: a token store, with what managers need to share tokens through it.
 * Only applications that share tokens load this code.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` for anything that is not a token store, and for an invalid key.
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, store: sharedStore(new MyStore()) })
 * ```
 */
export function sharedStore(
  store: TokenStore,
  { key }: { readonly key?: StoreKey | undefined } = {},
): SharedStore {
  refusingTo('share token store', () => {
    for (const method of ['claim', 'write', 'release', 'drop'])
      if (!isRecord(store) || typeof store[method] !== 'function')
        refuse('store', shape(store), 'a token store, with claim, write, release and drop')
    if (key !== undefined && typeof key !== 'function') readKeys(key)
  })
  return {
    claim: store.claim.bind(store),
    write: store.write.bind(store),
    release: store.release.bind(store),
    drop: store.drop.bind(store),
    ...(store.server && { server: store.server.bind(store) }),
    [sharing](emit: Emit): ShareTokens {
      const guarded = guardedStore(store, emit)
      return (source, endpoint, leaseTime, clients) => {
        if (key === undefined && clients.some((client) => 'assertion' in client))
          refuse(
            'store',
            `a store without a \`key\`, but \`${endpoint.credentialsOption}\` has an assertion instead of a secret to encrypt tokens with`,
            'redisTokenStore({ client, key }), fileTokenStore(folder, { key }), or sharedStore(store, { key })',
          )
        return sharedSource(guarded, source, endpoint, leaseTime, async () => keysOf(key))
      }
    },
  }
}

/** Returns the keys, the sealing one first. An error of a `key` function loses its text. */
async function keysOf(key: StoreKey | undefined): Promise<readonly string[]> {
  if (key === undefined) return []
  try {
    const given = typeof key === 'function' ? await key() : key
    return refusingTo('share token store', () => readKeys(given))
  } catch (error) {
    // it may have read a file or a vault, whose errors quote what they read
    throw isTokenlaneError(error) ? error : new Error("the store's `key` function failed")
  }
}

function readKeys(given: KeyTexts): readonly string[] {
  const allowed =
    `a string of ${shortestKey} characters or more, such as the output of \`openssl rand -base64 32\`, an array of them, ` +
    'or a function that returns either'
  const keys: readonly unknown[] = [given].flat()
  if (keys.length === 0) refuse('key', 'an empty array', allowed)
  return keys.map((text) => {
    if (!isText(text)) return refuse('key', shape(text), allowed)
    return text.trim().length < shortestKey ? refuse('key', 'too short', allowed) : text.trim()
  })
}
