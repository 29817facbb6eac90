import type { CheckedOptions } from './check-options.ts'
import type { Registration } from './registration.ts'

/** What tools can find out about a manager. */
interface KnownManager {
  readonly options: CheckedOptions
  readonly registration: Registration
}

const managers = new WeakMap<object, KnownManager>()

/** Notes what `managerBehind` returns for a manager. */
export function rememberManager(tokens: object, manager: KnownManager): void {
  managers.set(tokens, manager)
}

/** Returns what is behind a manager; `undefined` for anything that this copy of the package did not create. */
export function managerBehind(tokens: unknown): KnownManager | undefined {
  return typeof tokens === 'object' && tokens !== null ? managers.get(tokens) : undefined
}
