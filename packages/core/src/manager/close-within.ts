import { own, refusingTo } from '../options/check.ts'
import { duration, fitting, optional } from '../options/reader.ts'
import { Countdown } from '../time/countdown.ts'

/** How long `close` may take: until `timeout` milliseconds have passed or `signal` aborts; by default as long as it takes. */
export interface CloseOptions {
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What was still under way when `close` resolved. */
export interface CutOff {
  readonly calls: number
  readonly tokenRequests: number
}

const readTimeout = optional(duration('0 or more'))
const readSignal = optional(
  fitting<AbortSignal>(
    (value) => Object.prototype.toString.call(value) === '[object AbortSignal]',
    'an AbortSignal',
  ),
)

/** Runs `close`; resolves when it is done or at the bound, when `over` resolves, too. */
export async function closeWithin(
  options: CloseOptions,
  work: (over: Promise<void>) => Promise<unknown>,
): Promise<void> {
  // nothing else is read: frameworks call their hooks, such as `close`, with arguments of their own
  const [timeout, signal] = refusingTo('close', () => [
    readTimeout(own(options, 'timeout'), 'timeout'),
    readSignal(own(options, 'signal'), 'signal'),
  ])
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const countdown = timeout === undefined ? undefined : new Countdown(timeout, end)
  signal?.addEventListener('abort', end)
  if (signal?.aborted === true) end()
  try {
    await Promise.race([work(over), over])
  } finally {
    countdown?.stop()
    signal?.removeEventListener('abort', end)
  }
}
