import { builtinModule } from './runtime/builtin-module.ts'

type DiagnosticsChannel = typeof import('node:diagnostics_channel')

/**
 * Publishes the stages of one kind of operation on a tracing channel: `start` and `end` around its synchronous part,
 * `asyncStart` and `asyncEnd` when its outcome is there, `error` before them if it failed. All of them get the same
 * message object.
 *
 * Does nothing where a runtime has no `node:diagnostics_channel`.
 *
 * @see https://nodejs.org/api/diagnostics_channel.html#class-tracingchannel
 */
export class Tracing<Message extends object> {
  readonly #channels: ReturnType<DiagnosticsChannel['tracingChannel']> | undefined

  constructor(name: `tokenlane:${string}`) {
    const channel = builtinModule('node:diagnostics_channel') as DiagnosticsChannel | undefined
    this.#channels = channel?.tracingChannel(name)
  }

  /** Whether a message would be received. Make messages only then. */
  get isObserved(): boolean {
    // Bun's channels do not say (2026)
    return this.#channels !== undefined && (this.#channels.hasSubscribers ?? true)
  }

  /** Runs the synchronous part of an operation between `start` and `end`, in the stores that are bound to `start`. */
  begin<T>(message: Message, work: () => T): T {
    if (this.#channels === undefined) return work()
    const { start, end } = this.#channels
    return start.runStores(message, () => {
      try {
        return work()
      } finally {
        end.publish(message)
      }
    })
  }

  /** Publishes that the outcome is there. A message with an `error` says that the operation failed. */
  finish(message: Message): void {
    const { error, asyncStart, asyncEnd } = this.#channels ?? {}
    if (Object.hasOwn(message, 'error')) error?.publish(message)
    asyncStart?.publish(message)
    asyncEnd?.publish(message)
  }
}
