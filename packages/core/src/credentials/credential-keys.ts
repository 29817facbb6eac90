import type { ClientCredentials } from './credentials.ts'
import { isCryptoKey } from './read-credentials.ts'

/** Makes a key of a client and its proof. The key is text that holds the secret: it must never be shown. */
export class CredentialKeys {
  /** Numbers the keys that are objects, which have no text. */
  #numbers: WeakMap<object, number> | undefined
  #last = 0

  of(credentials: ClientCredentials): string {
    return JSON.stringify({ ...credentials, secretIssuedAt: undefined }, (_, value: unknown) =>
      isCryptoKey(value) ? this.#numberOf(value) : value,
    )
  }

  #numberOf(key: object): number {
    this.#numbers ??= new WeakMap()
    const number = this.#numbers.get(key) ?? (this.#last += 1)
    this.#numbers.set(key, number)
    return number
  }
}
