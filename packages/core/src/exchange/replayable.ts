/** Those of another package, such as undici's own, have the same tags. */
const replayableTags = new Set<unknown>(['URLSearchParams', 'Blob', 'File', 'FormData'])

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
    // the `form-data` package gives its tag to a Node stream
    (!('pipe' in body) &&
      replayableTags.has((body as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]))
  )
}
