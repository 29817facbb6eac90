/** The longest delay that a timer takes, in milliseconds: one that is set for more fires at once. */
export const longestTimer = 2_147_483_647

/** Sets a timer, 1 ms at least, rounded to the nearest: rounding up would cost 10 % of 100 calls a second with `spread`. */
export function queueTimer(ms: number, act: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(act, Math.min(Math.max(1, Math.round(ms)), longestTimer))
}

/** Does one step of a request with a signal that aborts once `ms` milliseconds have passed; its reason's message says how many. */
export async function withTimeLimit<T>(ms: number, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(new DOMException(`${Math.round(ms)} ms`, 'TimeoutError'))
  const timer = setTimeout(abort, Math.min(ms, longestTimer))
  try {
    return await step(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}
