import axios, { type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios'

/** What axios sends a call with: its adapter for Node, its adapter for `fetch`, or one of somebody else's. */
export type Via = 'http' | 'fetch' | 'other'

/** Node's adapter, which is the same for all calls; `undefined` in other runtimes. */
const httpAdapter = adapterOf('http', {} as InternalAxiosRequestConfig)

export function viaOf(adapter: AxiosAdapter, config: InternalAxiosRequestConfig): Via {
  if (adapter === httpAdapter) return 'http'
  return adapter === adapterOf('fetch', config) ? 'fetch' : 'other'
}

function adapterOf(name: 'fetch' | 'http', config: InternalAxiosRequestConfig): AxiosAdapter | undefined {
  try {
    return axios.getAdapter(name, config)
  } catch {
    // this runtime has none
    return undefined
  }
}
