import type { InternalAxiosRequestConfig } from 'axios'

export const isWholeBodyNeeded: boolean = 'Deno' in globalThis

/** axios ends a form with it, and Deno does not. */
const lineBreak = Buffer.from('\r\n')

/**
 * Returns the configuration with a Blob or a form as bytes. axios streams both with a known length and ends with an empty
 * write, which never ends on a connection of Deno that was in use before.
 */
export async function withWholeBody(config: InternalAxiosRequestConfig): Promise<InternalAxiosRequestConfig> {
  const data: unknown = config.data
  if (!(data instanceof Blob || data instanceof FormData)) return config
  const body = new Response(data)
  const headers = config.headers.concat({})
  // as axios does, over a type that the caller set
  headers.setContentType(body.headers.get('content-type') ?? 'application/octet-stream')
  const bytes = Buffer.from(await body.arrayBuffer())
  const isOpen = data instanceof FormData && !bytes.subarray(-2).equals(lineBreak)
  return { ...config, headers, data: isOpen ? Buffer.concat([bytes, lineBreak]) : bytes }
}
