import type { ClientCredentials } from './credentials.ts'
import { isCryptoKey } from './read-credentials.ts'

/** Makes a key of a client and its proof. The key is text that holds the secret: it must never be shown. */
export class CredentialKeys {
  /** Numbers the keys that are objects, which have no text. */
  readonly #numbers = new WeakMap<object, number>()
  #last = 0

  of(credentials: ClientCredentials): string {
    return JSON.stringify({ ...credentials, secretIssuedAt: undefined }, (_, value: unknown) =>
      isCryptoKey(value) ? this.#numberOf(value) : value,
    )
  }

  #numberOf(key: object): number {
    const number = this.#numbers.get(key) ?? (this.#last += 1)
    this.#numbers.set(key, number)
    return number
  }
}
