import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { Exchange } from '../src/adapter.ts'

/** Gets a URL as an adapter would; not by `fetch`, which gives a busy machine 10 s for a connection. */
export async function plainGet(url: string, authorization: string): Promise<Exchange<number>> {
  const [response] = (await once(get(url, { headers: { authorization } }), 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
  const { statusCode: status = 0, headers } = response
  return { status, retryAfter: headers['retry-after'], result: status, discard() {} }
}

/** A busy machine takes its time for a token too. */
export const patient = { requestTimeout: 60_000, maxWait: 60_000 } as const
