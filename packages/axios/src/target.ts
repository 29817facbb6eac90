import axios, { type InternalAxiosRequestConfig } from 'axios'

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

/** Has no defaults, which are in a call's config already, and which adapters do not know. */
const joiner = new axios.Axios({})

/**
 * The URL that an adapter makes of it, but for its `params`; `undefined` where there is none, and axios fails in its
 * own way, or where adapters do not agree.
 */
export function urlOf(target: Target, { params }: InternalAxiosRequestConfig): string | undefined {
  try {
    const url = isWhole(target) ? target.url : joiner.getUri(target)
    // the URL parser takes white space off a path's end, but some adapters put the query behind it first
    const isAmbiguous = Boolean(params) && /[\0-\x20]$/.test(url)
    return isAmbiguous ? undefined : url
  } catch {
    return undefined
  }
}

/** Whether axios takes the URL as it is. To have it put together costs more than all else here. */
function isWhole(target: Target): target is Target & { readonly url: string } {
  return !target.baseURL && /^https?:\/\//i.test(target.url ?? '')
}
