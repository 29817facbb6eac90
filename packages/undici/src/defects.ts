import type { Handler } from './handler.ts'

/** Methods of a handler for which undici 8 looks, and those of them that may be missing. */
const optional = ['onBodySent', 'onRequestSent'] as const
const checked = ['onResponseStart', 'onResponseData', 'onResponseEnd', ...optional] as const

/** Shows undici what is wrong with the caller's handler, until it takes the request: undici 8 refuses it, 7 does not. */
export function showDefects(handler: Handler, own: Handler): void {
  for (const name of checked) {
    const value = handler[name]
    const mayMiss = value === undefined && optional.some((each) => each === name)
    if (typeof value !== 'function' && !mayMiss)
      Object.defineProperty(own, name, { value, configurable: true, writable: true })
  }
}

/** Takes back what was shown, and nothing that undici's proxies have put there. */
export function hideDefects(handler: Handler, own: Handler): void {
  for (const name of checked)
    if (Object.hasOwn(own, name) && own[name] === handler[name]) Reflect.deleteProperty(own, name)
}
