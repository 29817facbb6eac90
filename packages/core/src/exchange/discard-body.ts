const mostRead = 65_536
/** In milliseconds: an answer may stop without an end. */
const longestRead = 1_000

/** A stream of the web or of Node. */
type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Frees the connection of an answer that nobody wants: a short body is read, so that the connection can serve
 * again, and one that is long or slow is given up. Never fails.
 */
export async function discardBody(body: Body | null | undefined): Promise<void> {
  if (body === null || body === undefined) return
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const source = 'getReader' in body ? ofWeb(body) : ofNode(body)
    timer = setTimeout(() => source.giveUp(), longestRead)
    let read = 0
    while (read <= mostRead) {
      const { done, value } = await source.next()
      if (done === true || value === undefined) return
      read += value.length
    }
    source.giveUp()
  } catch {
    // the answer is unwanted, and so is its failure
  } finally {
    clearTimeout(timer)
  }
}

interface Source {
  next(): Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }>
  /** Also ends a `next` that still waits. */
  giveUp(): void
}

function ofWeb(body: ReadableStream<Uint8Array>): Source {
  const reader = body.getReader()
  return {
    next: () => reader.read(),
    giveUp: () => void reader.cancel().catch(() => {}),
  }
}

function ofNode(body: AsyncIterable<Uint8Array> & { destroy?(): void }): Source {
  const chunks = body[Symbol.asyncIterator]()
  return { next: () => chunks.next(), giveUp: () => body.destroy?.() }
}
