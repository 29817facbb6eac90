import { Countdown } from '../time/countdown.ts'

const mostRead = 65_536
/** In milliseconds: a body may stall without an end. */
const longestRead = 1_000

type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Frees the connection of an unwanted response: reads a body of at most 64 KiB, so that the connection can be
 * reused, and cancels one that is longer or takes more than a second. Never rejects.
 *
 * @returns the body, if it was read to its end.
 */
export async function discardBody(body: Body | null | undefined): Promise<readonly Uint8Array[] | undefined> {
  if (body === null || body === undefined) return undefined
  const chunks: Uint8Array[] = []
  let countdown: Countdown | undefined
  try {
    const source = sourceOf(body)
    let isLate = false
    countdown = new Countdown(longestRead, () => {
      isLate = true
      source.giveUp()
    })
    let read = 0
    while (read <= mostRead) {
      const { done, value } = await source.next()
      if (done === true || value === undefined) return isLate ? undefined : chunks
      chunks.push(value)
      read += value.length
    }
    source.giveUp()
  } catch {
    // the response is unwanted, and so is its failure
  } finally {
    countdown?.stop()
  }
  return undefined
}

function sourceOf(body: Body) {
  if ('getReader' in body) {
    const reader = body.getReader()
    return { next: () => reader.read(), giveUp: () => void reader.cancel().catch(() => {}) }
  }
  const chunks = body[Symbol.asyncIterator]()
  return { next: () => chunks.next(), giveUp: () => (body as { destroy?(): void }).destroy?.() }
}
