/**
 * Whether a body can be sent again: nothing, text, bytes, a form. `false` for what can be read once, such as
 * streams and generators, and for what is not known.
 */
export function isReplayable(body: unknown): boolean {
  return (
    typeof body !== 'object' ||
    body === null ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams ||
    body instanceof Blob ||
    body instanceof FormData
  )
}
