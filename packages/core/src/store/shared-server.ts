/** What the server behind a shared token store or rate limiter says of itself. Holds no address and no password. */
export interface SharedServer {
  /** The same for everything that is kept on this server; changes when the server starts anew. */
  readonly id: string
  /** Name and version, such as `Redis 7.0.15`. */
  readonly name: string
  /** How far this machine's clock is ahead of the server's, in milliseconds. */
  readonly clockOffset: number
  /** What the server does when its memory is full; `undefined` if it could not be looked at. */
  readonly evictionPolicy?: string | undefined
  /** The command that the server refuses to this user, such as `INFO`, where less could be looked at for it. */
  readonly refused?: string | undefined
}
