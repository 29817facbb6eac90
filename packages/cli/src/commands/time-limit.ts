export class NoResponse extends Error {}

/** How long the command waits for a response before it tells the user, in milliseconds. */
const quietTime = 2_000

/**
 * Returns what `request` returns. Says when it takes long, and aborts it after `seconds`.
 *
 * @throws NoResponse after that time.
 */
export async function withTimeLimit<T>(
  seconds: number,
  tell: (text: string) => void,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const notice = setTimeout(() => tell(`No response yet: the call waits ${seconds} s at most`), quietTime)
  const limit = setTimeout(() => late.abort(), seconds * 1_000)
  try {
    return await request(late.signal)
  } catch (error) {
    throw late.signal.aborted ? new NoResponse(`The call failed: no response in ${seconds} s`) : error
  } finally {
    clearTimeout(notice)
    clearTimeout(limit)
  }
}
