import type { RatePolicy } from '@tokenlane/core'

/** What a way of getting tokens on calls does, as the benches of it need it. */
export interface Peer {
  /** The `Authorization` of a call; `undefined` for a peer that gives none to look at. */
  readonly authorize?: () => unknown
  /** Makes a call, to `apiUrl` by default, and returns the status of its response. */
  call(url?: string): Promise<number>
}

/** Where a peer gets its tokens and calls, and with what. */
export interface PeerService {
  /** Everything is sent through it, token requests too. */
  readonly fetch: typeof globalThis.fetch
  readonly tokenUrl: string
  readonly apiUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** What the issuer asks for, if anything. */
  readonly scope?: string
  /** For peers that know such a thing. */
  readonly ratePolicy?: RatePolicy
}

export type CreatePeer = (service: PeerService) => Peer

export const apiUrl = 'https://api.example.com/records/7'
export const tokenUrl = 'https://auth.example.com/token'

/** A service that is nothing but a `fetch`. */
export function serviceBehind(fetch: typeof globalThis.fetch): PeerService {
  return { fetch, tokenUrl, apiUrl, clientId: 'client', clientSecret: 'secret' }
}

/** A token request as by hand. */
export async function askForToken({
  fetch,
  tokenUrl: url,
  clientId,
  clientSecret,
  scope,
}: PeerService): Promise<{ token: string; lifetime: number }> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const body = new URLSearchParams(scope === undefined ? form : { ...form, scope })
  const response = await fetch(url, { method: 'POST', body })
  if (!response.ok) throw new Error(`No token: ${response.status}`)
  const answer = (await response.json()) as { access_token: string; expires_in: number }
  return { token: answer.access_token, lifetime: answer.expires_in * 1_000 }
}

/** A call as by hand. */
export async function callWith({ fetch }: PeerService, url: string, authorization: string): Promise<number> {
  const response = await fetch(url, { headers: { authorization } })
  // else its connection could not be used again
  await response.arrayBuffer()
  return response.status
}
