import { isTokenlaneError } from '../errors.ts'
import { refuse, shape } from '../options/check.ts'
import { refusingTo } from '../options/faults.ts'

/**
 * What a store seals tokens with if their clients have no lasting secret, as with an assertion from outside: text of 32
 * characters or more, such as the output of `openssl rand -base64 32`. Of several, the first seals and each
 * can open, so that keys can be rotated: `[old, new]` everywhere, then `[new, old]`, then `new`. A function is called
 * before each use of the store.
 */
export type StoreKey = KeyTexts | (() => KeyTexts | Promise<KeyTexts>)

type KeyTexts = string | readonly string[]

const shortest = 32
const allowed =
  `text of ${shortest} characters or more, such as the output of \`openssl rand -base64 32\`, an array of them, ` +
  'or a function that returns either'

/**
 * Returns a function that returns the keys, the one that seals first.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` for what is not a key; what the function throws is an error without its text.
 */
export function storeKeys(key: StoreKey): () => Promise<readonly string[]> {
  if (typeof key !== 'function') {
    const keys = checked(key)
    return async () => keys
  }
  return async () => {
    try {
      return checked(await key())
    } catch (error) {
      // it may have read a file or a vault, whose errors quote what they read
      throw isTokenlaneError(error) ? error : new Error("the store's `key` function failed")
    }
  }
}

function checked(key: unknown): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(key) ? key : [key]
  return refusingTo('share token store', () => {
    if (keys.length === 0) refuse('key', 'an empty array', allowed)
    return keys.map((text) => {
      if (typeof text !== 'string' || text === '') return refuse('key', shape(text), allowed)
      return text.trim().length < shortest ? refuse('key', 'too short', allowed) : text.trim()
    })
  })
}
