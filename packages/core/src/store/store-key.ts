import { isTokenlaneError, TokenlaneError } from '../errors.ts'
import { shape } from '../options/check.ts'

/**
 * What a store seals tokens with if their clients have no lasting secret, as with an assertion from outside: text of 32
 * characters or more, such as the output of `openssl rand -base64 32`. Of several, the first seals and all open, so
 * that keys can be rotated: `[old, new]` everywhere, then `[new, old]`, then `new`. A function is called before the
 * store is.
 */
export type StoreKey = KeyTexts | (() => KeyTexts | Promise<KeyTexts>)

type KeyTexts = string | readonly string[]

const shortest = 32

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
      throw isTokenlaneError(error) ? error : new Error('the function `key` of the store failed')
    }
  }
}

function checked(key: unknown): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(key) ? key : [key]
  if (keys.length === 0) refuseKey('an empty array')
  return keys.map((text) => {
    if (typeof text !== 'string' || text === '') return refuseKey(shape(text))
    return text.trim().length < shortest ? refuseKey('too short') : text.trim()
  })
}

function refuseKey(given: string): never {
  throw new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot share token store: \`key\` is ${given}; allowed: text of ${shortest} characters or more, such as the output of \`openssl rand -base64 32\`, an array of them, or a function that returns either`,
  )
}
