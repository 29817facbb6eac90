import type { AxiosInstance, InternalAxiosRequestConfig } from 'axios'

/** What says where an adapter sends a call. */
export type Target = Pick<InternalAxiosRequestConfig, 'url' | 'baseURL' | 'allowAbsoluteUrls'>

/**
 * Where a call goes, as its config says. To be kept: others hold the config and its URL object too, and the call
 * may wait.
 */
export function targetOf({ url, baseURL = '', allowAbsoluteUrls = true }: Target): Target {
  // axios takes a URL object too, whatever its types say
  const given: unknown = url ?? ''
  return { url: String(given), baseURL, allowAbsoluteUrls }
}

/**
 * The URL that an adapter makes of it; `undefined` where there is none, and axios fails in its own way, or where
 * adapters do not agree.
 */
export function urlOf(
  target: Target,
  { params }: InternalAxiosRequestConfig,
  instance: Pick<AxiosInstance, 'getUri'>,
): string | undefined {
  try {
    // `target` leaves nothing open that `getUri` would take from the instance's defaults, which adapters do not know
    const url = instance.getUri(target)
    // the URL parser takes white space off a path's end, but some adapters put the query behind it first
    const isAmbiguous = Boolean(params) && /[\0-\x20]$/.test(url)
    return isAmbiguous ? undefined : url
  } catch {
    return undefined
  }
}
