import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { CallOptions } from '@tokenlane/core/adapter'
import needle, { type BodyData, type NeedleHttpVerbs, type NeedleOptions, type NeedleResponse } from 'needle'

/** The options of needle, and how Tokenlane treats the call. */
export type CallingOptions = NeedleOptions & { readonly tokenlane?: CallOptions | undefined }

/** needle, as a function from a call to a response. */
export type Needle<Response extends IncomingMessage> = (
  method: NeedleHttpVerbs,
  url: string,
  data?: BodyData,
  options?: CallingOptions,
) => Promise<Response>

/** A response whose body is yet to be read. */
export interface StreamedResponse extends IncomingMessage {
  /** The body, decompressed. */
  stream: Readable
}

/** Sends a call, and resolves when the body was read. */
export const buffered: Needle<NeedleResponse> = (method, url, data = null, options = {}) => {
  const { promise, resolve, reject } = Promise.withResolvers<NeedleResponse>()
  const stream = needle.request(method, url, data, options, (error, response) =>
    error === null ? resolve(response) : reject(error),
  )
  // alone, needle never ends a call whose connection breaks in the middle of the body
  stream.on('response', (response: IncomingMessage) => response.once('error', reject))
  return promise
}

/** Sends a call, and resolves when the response's headers are there. */
export const streamed: Needle<StreamedResponse> = (method, url, data = null, options = {}) => {
  const { promise, resolve, reject } = Promise.withResolvers<StreamedResponse>()
  const stream = needle.request(method, url, data, options) as Readable
  let response: IncomingMessage | undefined
  stream.on('response', (received: IncomingMessage) => (response = received))
  stream.once('header', () => resolve(Object.assign(response as IncomingMessage, { stream })))
  stream.on('err', reject)
  // needle reads on when its stream is destroyed
  stream.once('close', () => response?.destroy())
  return promise
}
