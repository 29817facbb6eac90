/** What a way of getting tokens on calls does, as the benches of it need it. */
export interface Peer {
  /** The `Authorization` of a call; `undefined` for a peer that gives none to look at. */
  readonly authorize?: () => unknown
  /** Makes a call and tells the status of its answer. */
  call(): Promise<number>
}

/** Makes a peer that sends everything, token requests too, through this `fetch`. */
export type CreatePeer = (fetch: typeof globalThis.fetch) => Peer

export const apiUrl = 'https://api.example.com/records/7'
export const tokenUrl = 'https://auth.example.com/token'

/** A token request as by hand. */
export async function askForToken(
  fetch: typeof globalThis.fetch,
): Promise<{ token: string; lifetime: number }> {
  const response = await fetch(tokenUrl, { method: 'POST', body: 'grant_type=client_credentials' })
  if (!response.ok) throw new Error(`No token: ${response.status}`)
  const answer = (await response.json()) as { access_token: string; expires_in: number }
  return { token: answer.access_token, lifetime: answer.expires_in * 1_000 }
}

/** A call as by hand. */
export async function callWith(fetch: typeof globalThis.fetch, authorization: string): Promise<number> {
  const { status } = await fetch(apiUrl, { headers: { authorization } })
  return status
}
