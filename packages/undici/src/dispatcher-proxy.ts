import type { Dispatch } from './handler.ts'

/** What undici calls a dispatcher, as far as every one has it: those of Node, of any undici, and of mocks. */
export interface Dispatcher {
  readonly dispatch: Dispatch
}

/**
 * Returns a dispatcher that sends by another function, and is the given one in all else.
 *
 * @see `compose` of undici, which is not there on dispatchers of other makers
 */
export function dispatcherWith<T extends Dispatcher>(dispatcher: T, dispatch: Dispatch): T {
  return new Proxy(dispatcher, {
    get(target, key) {
      if (key === 'dispatch') return dispatch
      // the target itself: some classes of undici have private fields
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' && (key === 'close' || key === 'destroy')
        ? value.bind(target)
        : value
    },
  })
}
