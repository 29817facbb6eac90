import type { ServerResponse } from 'node:http'

/** Makes a response send half of its body and then cut the connection. */
export function cutInBody(response: ServerResponse): void {
  const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse
  response.end = ((chunk?: unknown) => {
    const body = Buffer.from(typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk : '')
    const half = body.subarray(0, Math.floor(body.length / 2))
    if (!response.headersSent) response.setHeader('content-length', body.length)
    if (half.length === 0) {
      end()
      return response
    }
    response.write(half, () => response.socket?.destroy())
    return response
  }) as typeof response.end
}
