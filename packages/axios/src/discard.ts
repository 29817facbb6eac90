import type { AxiosResponse } from 'axios'

const mostRead = 65_536

/**
 * Frees the connection of a streamed answer that nobody wants: a short body is read, so that the connection can
 * serve again, and a long one is destroyed. Other answers have been read already.
 */
export async function discard({ config, data }: AxiosResponse): Promise<void> {
  const { responseType } = config as { responseType?: string }
  if (responseType !== 'stream' && responseType !== 'response') return
  const body = (
    responseType === 'stream' ? data : (data as Response).body
  ) as AsyncIterable<Uint8Array> | null
  if (body === null) return
  let read = 0
  // leaving the loop early destroys the stream
  for await (const chunk of body) {
    read += chunk.length
    if (read > mostRead) return
  }
}
