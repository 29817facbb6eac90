export interface WaitingBody {
  /** Aborts with the caller's signal, and when the body dies. */
  readonly signal: AbortSignal | undefined
  /** Set once the body has died: it has failed, was closed before its end, or was read by somebody else. */
  readonly death: { readonly error?: unknown } | undefined
  /** Stops watching because the call is sent: the client watches from now on. */
  release(): void
  /** Stops watching a call that ended unsent: a later failure of the body must not be reported. */
  abandon(): void
}

type Died = (error?: unknown) => void

/**
 * Watches a body that can be read once, so that its call ends when the body does. A Node stream that fails unwatched would
 * end the process, and a client that is handed a stream that has closed waits for its end forever.
 *
 * A web stream is locked until `release`. A generator does nothing until it is read, so there is nothing to watch.
 */
export function watchBody(body: unknown, signal?: AbortSignal | null): WaitingBody {
  const caller = signal ?? undefined
  if (typeof body !== 'object' || body === null) return unwatched(caller)
  if (isNodeStream(body)) return watch(caller, (died) => watchNodeStream(body, died))
  if (body instanceof ReadableStream && !body.locked && !keepsLocks())
    return watch(caller, (died) => watchWebStream(body, died))
  return unwatched(caller)
}

function isNodeStream(body: object): body is NodeJS.EventEmitter {
  return 'pipe' in body && 'on' in body
}

/** Bun sends no stream of its own that was ever locked. */
function keepsLocks(): boolean {
  return globalThis.process?.versions['bun'] !== undefined
}

function nothing(): void {}

function unwatched(signal: AbortSignal | undefined): WaitingBody {
  return { signal, death: undefined, release: nothing, abandon: nothing }
}

/** Reports the end of a body; returns a function that stops, for good if the call was not sent. */
type Watch = (died: Died) => (isSent: boolean) => void

function watch(caller: AbortSignal | undefined, begin: Watch): WaitingBody {
  const controller = new AbortController()
  let death: WaitingBody['death']
  const abort = (): void => controller.abort(caller?.reason)
  const stop = begin((error) => {
    death ??= { error }
    controller.abort(error)
  })
  if (caller?.aborted === true) abort()
  caller?.addEventListener('abort', abort)
  let isOver = false
  const end = (isSent: boolean): void => {
    if (isOver) return
    isOver = true
    caller?.removeEventListener('abort', abort)
    stop(isSent)
  }
  return {
    signal: controller.signal,
    get death() {
      return death
    },
    release: () => end(true),
    abandon: () => end(false),
  }
}

function watchNodeStream(stream: NodeJS.EventEmitter, died: Died): ReturnType<Watch> {
  const onEnd = (): void => died()
  stream.on('error', died).on('end', onEnd).on('close', onEnd)
  return (isSent) => {
    stream.off('end', onEnd).off('close', onEnd)
    if (isSent) stream.off('error', died)
  }
}

function watchWebStream(stream: ReadableStream, died: Died): ReturnType<Watch> {
  const reader = stream.getReader()
  let isWatched = true
  // one that has closed is empty, since nobody else can read it
  reader.closed.catch((error: unknown) => isWatched && died(error))
  return () => {
    isWatched = false
    reader.releaseLock()
  }
}
