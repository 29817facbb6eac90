import type { Handler } from './handler.ts'

/** Methods of a handler for which undici 8 looks, and whether they may be missing. */
const checked = [
  ['onResponseStart', false],
  ['onResponseData', false],
  ['onResponseEnd', false],
  ['onResponseError', false],
  ['onBodySent', true],
  ['onRequestSent', true],
] as const

/** Shows undici what is wrong with the caller's handler, until it takes the request: undici 8 refuses it, 7 does not. */
export function showDefects(handler: Handler, own: Handler): void {
  for (const [name, isOptional] of checked) {
    const value = handler[name]
    if (typeof value !== 'function' && !(isOptional && value === undefined))
      Object.defineProperty(own, name, { value, configurable: true, writable: true })
  }
}

/** Takes back what was shown, and nothing that undici's proxies have put there. */
export function hideDefects(handler: Handler, own: Handler): void {
  for (const [name] of checked)
    if (Object.hasOwn(own, name) && own[name] === handler[name]) Reflect.deleteProperty(own, name)
}
