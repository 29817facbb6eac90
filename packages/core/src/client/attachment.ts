import { TokenlaneError } from '../errors.ts'

/** A registered symbol, so that every copy of every adapter package sees what another one has attached. */
const managedBy: unique symbol = Symbol.for('tokenlane.managed') as never

/** Returns the manager that already supplies tokens for calls through `target`, or `undefined` for a client without tokens. */
export function managerOf(target: unknown): unknown {
  return (target as { readonly [managedBy]?: unknown } | null | undefined)?.[managedBy]
}

export function markManaged<T extends object>(target: T, manager: object): T {
  return Object.defineProperty(target, managedBy, { value: manager, configurable: true })
}

export function mustBeManager(tokens: unknown, purpose: string): void {
  if (typeof (tokens as { readonly route?: unknown } | null | undefined)?.route !== 'function')
    refuseArgument(purpose, 'tokens', 'what `createTokenManager` returns')
}

/** Refuses an argument of an adapter (`INVALID_OPTIONS`); `purpose` completes "Cannot …". */
export function refuseArgument(purpose: string, name: string, allowed: string): never {
  throw new TokenlaneError('INVALID_OPTIONS', `Cannot ${purpose}: \`${name}\` must be ${allowed}`)
}
