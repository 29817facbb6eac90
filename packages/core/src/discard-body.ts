const mostRead = 65_536

/**
 * Frees the connection of an answer that nobody wants: a short body is read, so that the connection can serve
 * again, and a long one is given up. Takes streams of the web and of Node.
 */
export async function discardBody(body: AsyncIterable<Uint8Array> | null | undefined): Promise<void> {
  if (body === null || body === undefined) return
  let read = 0
  // leaving the loop early cancels or destroys the stream
  for await (const chunk of body) {
    read += chunk.length
    if (read > mostRead) return
  }
}
