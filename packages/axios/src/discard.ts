import { discardBody } from '@tokenlane/core/adapter'
import type { AxiosResponse } from 'axios'

/** Frees the connection of a streamed response that is not the caller's. Other responses have been read already. */
export async function discard({ config, data }: AxiosResponse): Promise<void> {
  const { responseType } = config as { responseType?: string }
  if (responseType === 'stream') await discardBody(data as AsyncIterable<Uint8Array>)
  if (responseType === 'response') await discardBody((data as Response).body)
}
