import type { SendOptions } from './api.ts'

/** Has an option that other code has added to every object. */
const everyObject = Object.prototype as SendOptions

/** Returns a call's own options. Copying them for every call would take as long as the rest of it. */
export function ownOptions(options: SendOptions): SendOptions {
  const { client, method, url, tokenWait, signal, replayable, mustBeRight, pass, priority, resend, cost } =
    everyObject
  const isClean =
    client === undefined &&
    method === undefined &&
    url === undefined &&
    tokenWait === undefined &&
    signal === undefined &&
    replayable === undefined &&
    mustBeRight === undefined &&
    pass === undefined &&
    priority === undefined &&
    resend === undefined &&
    cost === undefined
  // with its getters: whether a stream can be sent again is known when it has ended
  return isClean ? options : Object.create(null, Object.getOwnPropertyDescriptors(options))
}
