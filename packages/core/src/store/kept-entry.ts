import type { Grant } from '../issuer/token-source.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { StoredToken } from './token-seal.ts'

/** Which entry of the store holds the token that this process uses, so that all processes can drop a refused token. */
export class KeptEntry {
  readonly #store: GuardedStore
  #name: string | undefined
  #entry: string | undefined
  /** `undefined` after an API refused the token. */
  #token: StoredToken | undefined

  constructor(store: GuardedStore) {
    this.#store = store
  }

  /** Returns the entry under `name`, if the token in use is from there. */
  entryUnder(name: string): string | undefined {
    return this.#name === name ? this.#entry : undefined
  }

  /** Returns the token of that entry, unless an API refused it. */
  tokenUnder(name: string): StoredToken | undefined {
    return this.#name === name ? this.#token : undefined
  }

  /** Remembers where the token of `grant` is stored. Returns the grant, whose `drop` drops that entry. */
  keep(grant: Grant, name: string, entry: string, token: StoredToken): Grant {
    this.#name = name
    this.#entry = entry
    this.#token = token
    return {
      ...grant,
      drop: () => {
        if (this.#entry === entry) this.#token = undefined
        void outliveRequest(this.#store.drop(name, entry))
      },
    }
  }

  /** Notes that the token in use is not in the store. */
  forget(): void {
    this.#name = undefined
  }
}
