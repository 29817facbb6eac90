import type { InternalAxiosRequestConfig } from 'axios'

import type { NativeClient } from './native-client.ts'

export type Target = Required<Pick<InternalAxiosRequestConfig, 'url' | 'baseURL' | 'allowAbsoluteUrls'>>

/**
 * Returns a copy of the options that say where a call goes. The caller holds the config and its URL object too, and may
 * change them while the call waits.
 */
export function targetOf({
  url,
  baseURL = '',
  allowAbsoluteUrls = true,
}: InternalAxiosRequestConfig): Target {
  // axios takes a URL object too, whatever its types say
  const given: unknown = url ?? ''
  return { url: String(given), baseURL, allowAbsoluteUrls }
}

/**
 * Returns the URL that an adapter makes of it, without its `params`. Returns `undefined` where there is no URL, so that
 * axios fails in its own way, and where axios' adapters make different URLs of it.
 */
export function urlOf(
  target: Target,
  { params }: InternalAxiosRequestConfig,
  native: () => NativeClient,
): string | undefined {
  try {
    const url = isWhole(target) ? target.url : native().getUri(target)
    // the URL parser takes white space off a path's end, but some adapters put the query behind it first
    const isAmbiguous = Boolean(params) && /[\0-\x20]$/.test(url)
    return isAmbiguous ? undefined : url
  } catch {
    return undefined
  }
}

/** Returns whether axios takes the URL as it is. Joining URLs costs more than all else here. */
function isWhole({ url, baseURL }: Target): boolean {
  return !baseURL && /^https?:\/\//i.test(url)
}
