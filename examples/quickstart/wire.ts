import https from 'node:https'
import type { Realm } from '@tokenlane/sandbox'
import axios, { isAxiosError, type AxiosAdapter } from 'axios'
import type { RequestFunction } from 'got'

/** What one client sent to one API, counted beneath Tokenlane: a call that is sent twice counts twice. */
export interface Sent {
  sends: number
  /** Sends that were answered 401. */
  rejected: number
}

/** Counts what a client sends, per API. */
export interface Wire {
  readonly sent: Record<Realm, Sent>
  /** Counts a send; tell the status to what it returns. */
  send(url: string): (status: number | undefined) => void
}

export function createWire(realmOf: (url: string) => Realm): Wire {
  const sent = { general: { sends: 0, rejected: 0 }, weblink: { sends: 0, rejected: 0 } }
  return {
    sent,
    send(url) {
      const count = sent[realmOf(url)]
      count.sends += 1
      return (status) => {
        if (status === 401) count.rejected += 1
      }
    },
  }
}

/** The runtime's `fetch`, counted: for plain `fetch` calls, and for ky. */
export function countingFetch(wire: Wire): typeof globalThis.fetch {
  return async (input, init) => {
    const answered = wire.send(input instanceof Request ? input.url : String(input))
    const response = await fetch(input, init)
    answered(response.status)
    return response
  }
}

/** The adapter that axios would take by itself, counted. */
export function countingAdapter(wire: Wire): AxiosAdapter {
  const send = axios.getAdapter(axios.defaults.adapter)
  return async (config) => {
    const answered = wire.send(axios.getUri(config))
    try {
      const response = await send(config)
      answered(response.status)
      return response
    } catch (error) {
      answered(isAxiosError(error) ? error.response?.status : undefined)
      throw error
    }
  }
}

/** The request that got would make by itself, counted. */
export function countingRequest(wire: Wire): RequestFunction {
  return (url, options, callback) => {
    const answered = wire.send(url.href)
    const request = https.request(url, options, callback)
    return request.once('response', ({ statusCode }) => answered(statusCode))
  }
}
