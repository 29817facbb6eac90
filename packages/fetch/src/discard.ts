const mostRead = 65_536

/**
 * Frees the connection of an answer that nobody wants: a short body is read, so that the connection can serve
 * again, and a long one is cancelled.
 */
export async function discard({ body }: Response): Promise<void> {
  if (body === null) return
  const reader = body.getReader()
  for (let read = 0; read <= mostRead;) {
    const { done, value } = await reader.read()
    if (done) return
    read += value.byteLength
  }
  await reader.cancel()
}
