import type { ProtectedApi } from '../send/protected-api.ts'
import type { CheckedApi } from './check-apis.ts'

/**
 * The APIs of one registration by their place in the options, each put together when it is first used. A registration
 * may have many that it never calls: with a rate policy each takes 1.8 KB.
 */
export class ApisInUse {
  readonly #checked: readonly CheckedApi[]
  readonly #build: (api: CheckedApi, place: number) => ProtectedApi
  readonly #built: (ProtectedApi | undefined)[] = []

  constructor(checked: readonly CheckedApi[], build: (api: CheckedApi, place: number) => ProtectedApi) {
    this.#checked = checked
    this.#build = build
  }

  /** Returns the API at a place of the options. */
  at(place: number): ProtectedApi {
    return (this.#built[place] ??= this.#build(this.#checked[place] as CheckedApi, place))
  }

  /** Returns all of them. */
  all(): readonly ProtectedApi[] {
    return this.#checked.map((_, place) => this.at(place))
  }

  /** Returns those that were used until now. */
  inUse(): readonly ProtectedApi[] {
    return this.#built.filter((api) => api !== undefined)
  }
}
