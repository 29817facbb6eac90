/** What a call does: the sandbox has an endpoint for each. */
export type Kind = 'read' | 'write' | 'stream' | 'redirect' | 'redirect-write' | 'redirect-out'

export const clientNames = ['axios', 'got', 'ky', 'fetch', 'undici'] as const

export type ClientName = (typeof clientNames)[number]

export type Realm = 'general' | 'weblink'

/** One call, under an id that stands in its path and so in the sandbox's journal. */
export interface Call {
  readonly id: string
  readonly client: ClientName
  readonly realm: Realm
  readonly kind: Kind
}

/** A call that ended, `outcome` being `ok`, a status or an error code. */
export interface EndedCall extends Call {
  readonly outcome: string
}
