const mostRead = 65_536
/** In milliseconds: a body may stall without an end. */
const longestRead = 1_000

/** A stream of the web or of Node. */
type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Frees the connection of an unwanted response: reads a body of at most 64 KiB, so that the connection can be
 * reused, and cancels one that is longer or takes more than a second. Never rejects.
 */
export async function discardBody(body: Body | null | undefined): Promise<void> {
  if (body === null || body === undefined) return
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const source = sourceOf(body)
    timer = setTimeout(() => source.giveUp(), longestRead)
    let read = 0
    while (read <= mostRead) {
      const { done, value } = await source.next()
      if (done === true || value === undefined) return
      read += value.length
    }
    source.giveUp()
  } catch {
    // the response is unwanted, and so is its failure
  } finally {
    clearTimeout(timer)
  }
}

/** Returns how a body is read, and cancelled, which also ends a pending read. */
function sourceOf(body: Body) {
  if ('getReader' in body) {
    const reader = body.getReader()
    return { next: () => reader.read(), giveUp: () => void reader.cancel().catch(() => {}) }
  }
  const chunks = body[Symbol.asyncIterator]()
  return { next: () => chunks.next(), giveUp: () => (body as { destroy?(): void }).destroy?.() }
}
