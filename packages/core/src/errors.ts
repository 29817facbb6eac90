import { printable } from './foreign-text.ts'

/**
 * What went wrong. Stable across releases: test `code`, not the message.
 *
 * - `INVALID_OPTIONS`: an option is wrong; the message names it, what was given and what is allowed.
 * - `INSECURE_TRANSPORT`: a URL, an agent, a dispatcher or the issuer's TLS would let a secret or a token travel
 *   unprotected; the message names the option.
 * - `CREDENTIALS_UNAVAILABLE`: the credentials function failed or returned nothing usable, or a key cannot sign.
 * - `TOKEN_REQUEST_REFUSED`: the issuer refused the client or the request (RFC 6749 §5.2); see `oauthError`, `status`.
 * - `TOKEN_REQUEST_FAILED`: the issuer could not be reached, or its response was an error; see `definite`.
 * - `TOKEN_REQUEST_TIMEOUT`: the issuer sent no response in time.
 * - `TOKEN_RESPONSE_INVALID`: the issuer's token response (RFC 6749 §5.1) or metadata (RFC 8414) is not valid.
 * - `QUEUE_FULL`: `maxQueued` calls are already waiting.
 * - `QUEUE_TIMEOUT`: the call waited longer than `maxWait`, or would have to.
 * - `MANAGER_CLOSED`: the token manager was closed.
 * - `CLIENT_SIDE_FORBIDDEN`: this is a page or worker in a browser, where a client secret does not belong.
 * - `RUNTIME_UNSUPPORTED`: this runtime is too old, or does not allow something that is needed, such as a request outside
 *   a handler, or a rate policy in an edge runtime like Cloudflare Workers.
 */
export type TokenlaneErrorCode =
  | 'INVALID_OPTIONS'
  | 'INSECURE_TRANSPORT'
  | 'CREDENTIALS_UNAVAILABLE'
  | 'TOKEN_REQUEST_REFUSED'
  | 'TOKEN_REQUEST_FAILED'
  | 'TOKEN_REQUEST_TIMEOUT'
  | 'TOKEN_RESPONSE_INVALID'
  | 'QUEUE_FULL'
  | 'QUEUE_TIMEOUT'
  | 'MANAGER_CLOSED'
  | 'CLIENT_SIDE_FORBIDDEN'
  | 'RUNTIME_UNSUPPORTED'

/** What a program may want to know about a failure besides its code. Never a secret, a token or a body. */
export interface TokenlaneErrorDetails {
  /** Base URL of the API, if its queue refused the call, or the manager was closed. */
  readonly api?: string | undefined
  /** Name of the issuer, as given in `issuers`. */
  readonly issuer?: string | undefined
  /** HTTP status of the issuer's response. */
  readonly status?: number | undefined
  /** The issuer's `error` (RFC 6749 §5.2), such as `invalid_client`. */
  readonly oauthError?: string | undefined
  /** The transport's error code, such as `ECONNREFUSED`. */
  readonly transportCode?: string | undefined
  /** How long the issuer asks clients to wait, in milliseconds (`Retry-After`, RFC 9110 §10.2.3). */
  readonly retryAfter?: number | undefined
  /** Whether retrying cannot help until something is changed. Such a request is not retried at once. */
  readonly definite?: boolean | undefined
  /** Whether the issuer gets more requests than it takes (429, `slow_down`): it is asked less and less. */
  readonly busy?: boolean | undefined
  /** Every failure, if one error stands for several: its message lists them, its `code` is that of the first. */
  readonly failures?: readonly TokenlaneError[] | undefined
  /** What the transport said, reduced to its name, code, address and port. */
  readonly cause?: Error | undefined
}

/** Characters of a reason that are shown: of names and paths in it, only the beginning should be. */
const longestReason = 2_000

const brand: symbol = Symbol.for('tokenlane.error')

/** A page of this package, also without a network, in which each code has a section. */
const troubleshooting = 'node_modules/@tokenlane/core/troubleshoot.md'

/**
 * Every error that Tokenlane itself throws.
 *
 * The message says what failed, where, and what is allowed, and ends with a link to the section of the troubleshooting
 * page that says more.
 */
export class TokenlaneError extends Error implements Omit<TokenlaneErrorDetails, 'cause'> {
  override readonly name: string = 'TokenlaneError'
  readonly code: TokenlaneErrorCode
  // declared only: a field that is there and undefined would be printed with every error
  declare readonly api?: string
  declare readonly issuer?: string
  declare readonly status?: number
  declare readonly oauthError?: string
  declare readonly transportCode?: string
  declare readonly retryAfter?: number
  declare readonly definite?: boolean
  declare readonly busy?: boolean
  // not printed, since the message lists them; Node would print `errors`
  declare readonly failures?: readonly TokenlaneError[]

  constructor(code: TokenlaneErrorCode, reason: string, details: TokenlaneErrorDetails = {}) {
    const { failures, cause, ...members } = details
    // several reasons have a line each, and each was an error's before
    super(
      (failures ? `${reason}\n` : `${printable(reason, longestReason)} `) + helpFor(code),
      cause && { cause },
    )
    for (const [name, value] of Object.entries(members))
      if (value !== undefined) Object.assign(this, { [name]: value })
    this.code = code
    Object.defineProperty(this, brand, { value: true })
    if (failures !== undefined) Object.defineProperty(this, 'failures', { value: failures })
  }

  /** Returns what `JSON.stringify` prints: the message, too, which an error leaves out. */
  toJSON(): object {
    return Object.assign({ message: this.message }, this)
  }
}

/** Returns one caller's own error, with its stack, for a failure that several calls share. */
export function errorForCaller(shared: unknown): unknown {
  return isTokenlaneError(shared) ? withMore(shared, '') : shared
}

export async function withOwnError<T>(shared: T | Promise<T>): Promise<T> {
  try {
    return await shared
  } catch (error) {
    throw errorForCaller(error)
  }
}

export function withMore(error: TokenlaneError, more: string): TokenlaneError {
  const details = Object.assign({}, error, { failures: error.failures, cause: error.cause as Error })
  return new TokenlaneError(error.code, reasonOf(error) + more, details)
}

/** Returns the error of several failures, which says what each of them is; of a single one, that one itself. */
export function errorForAll(
  failures: readonly TokenlaneError[],
  code: TokenlaneErrorCode,
  what: string,
): TokenlaneError {
  if (failures.length === 1) return failures[0] as TokenlaneError
  const lines = failures.map((failure) => `\n- ${whyOf(failure)}`)
  return new TokenlaneError(code, what + lines.join(''), { failures })
}

/** Returns an error's reason without the beginning "Cannot …". */
export function whyOf(error: TokenlaneError): string {
  return reasonOf(error).replace(/^Cannot [a-z ]+: /, '')
}

/** Returns an error's message without the pointer at its end. */
export function reasonOf({ code, message }: TokenlaneError): string {
  const help = helpFor(code)
  return message.endsWith(help) ? message.slice(0, -help.length - 1) : message
}

function helpFor(code: TokenlaneErrorCode): string {
  return `(see ${troubleshooting}#${code.toLowerCase()})`
}

/**
 * Whether `error` comes from Tokenlane, whichever copy of the package threw it.
 *
 * @example
 * ```ts
 * if (isTokenlaneError(error) && error.code === 'QUEUE_FULL') slowDown()
 * ```
 */
export function isTokenlaneError(error: unknown): error is TokenlaneError {
  return typeof error === 'object' && error !== null && brand in error
}

export function isClosed(error: unknown): boolean {
  return isTokenlaneError(error) && error.code === 'MANAGER_CLOSED'
}

export function closedError(what: string, api?: string): TokenlaneError {
  return new TokenlaneError('MANAGER_CLOSED', `Cannot use ${what}: the token manager was closed`, { api })
}
