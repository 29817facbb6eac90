/**
 * Whether a body, as axios hands it to an adapter, can be sent again. Streams, generators and `form-data`'s forms
 * can be read once.
 */
export function isReplayable(data: unknown): boolean {
  return (
    typeof data !== 'object' ||
    data === null ||
    data instanceof ArrayBuffer ||
    ArrayBuffer.isView(data) ||
    data instanceof URLSearchParams ||
    data instanceof Blob ||
    data instanceof FormData
  )
}
