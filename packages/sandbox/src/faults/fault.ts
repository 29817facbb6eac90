import * as v from 'valibot'

import {
  type Allowed,
  either,
  number,
  object,
  optional,
  text,
  time,
  trueOrFalse,
  wholeNumber,
} from '../allowed.ts'
import { type Answer, invalidToken, problem } from '../server/answer.ts'
import type { Random } from './latency.ts'

/** How long a fault lasts, and which requests meet it. Without a bound, it lasts until control restores the server. */
export interface FaultSpan {
  /** How long from now, in milliseconds. Default: no end. */
  for?: number
  /** How many requests meet it. Default: all. */
  times?: number
  /** How many of a hundred requests meet it, at random; 0 to 100. Default: all. */
  percent?: number
}

type Entries<Value> = { readonly [Key in keyof Value]-?: Allowed<Value[Key]> }

/** Schema entries of a span, for schemas of objects that extend `FaultSpan`. */
const spanEntries: Entries<FaultSpan> = {
  for: optional(time()),
  times: optional(wholeNumber({ min: 1 })),
  percent: optional(number({ min: 0, max: 100 })),
}

interface CurrentFault<Kind> {
  fault: Kind
  timeLeft: number | null
  timesLeft: number | null
  percent: number
}

/** Holds at most one fault: the last one set. It reads the clock when a request arrives, so that it needs no timer. */
export class FaultSlot<Kind> {
  readonly #now: () => number
  readonly #random: Random
  #set: { fault: Kind; until: number; left: number; percent: number } | undefined

  constructor(now: () => number, random: Random = Math.random) {
    this.#now = now
    this.#random = random
  }

  set(fault: Kind, { for: ms = Infinity, times = Infinity, percent = 100 }: FaultSpan): void {
    this.#set = { fault, until: this.#now() + ms, left: times, percent }
  }

  clear(): void {
    this.#set = undefined
  }

  /** Returns the fault for a request that arrives now, and counts the request; `undefined` without a fault for it. */
  take(): Kind | undefined {
    const found = this.#look()
    if (found === undefined || (found.percent < 100 && this.#random() * 100 >= found.percent))
      return undefined
    found.left -= 1
    return found.fault
  }

  current(): CurrentFault<Kind> | undefined {
    const found = this.#look()
    if (found === undefined) return undefined
    const { fault, until, left, percent } = found
    return {
      fault,
      timeLeft: until === Infinity ? null : until - this.#now(),
      timesLeft: left === Infinity ? null : left,
      percent,
    }
  }

  /** Forgets a fault that is over, and returns the fault that is set. */
  #look() {
    if (this.#set !== undefined && (this.#now() >= this.#set.until || this.#set.left === 0)) this.clear()
    return this.#set
  }
}

/** How an API fails. */
export interface ApiFailure extends FaultSpan {
  /** Status of every response, 200 to 599. */
  status: number
  /** The `Retry-After` header (RFC 9110 §10.2.3): a number of seconds, or any text, sent as it is. Default: none. */
  retryAfter?: number | string
  /** The `Location` header (RFC 9110 §10.2.2), for a redirect to anywhere. Default: none. */
  location?: string
}

/** How an issuer fails. */
export interface IssuerFailure extends ApiFailure {
  /** Body of every response: text, or an object that is sent as JSON. Default: an error body as in RFC 6749 §5.2. */
  body?: string | Record<string, unknown>
  /**
   * The `Content-Type` header of every response.
   *
   * @defaultValue 'application/json'
   */
  contentType?: string
}

/** How connections are cut. */
export interface Cut extends FaultSpan {
  /**
   * Whether the connection is cut in the middle of the response's body, after its headers, instead of before any
   * response.
   *
   * @defaultValue false
   */
  midBody?: boolean
}

export type Fault = Answer | 'cut' | 'cut-body'

const apiFailureEntries = {
  status: wholeNumber({ min: 200, max: 599 }),
  retryAfter: optional(
    either<[number, string]>(
      [wholeNumber({}), text],
      `a whole number from 0 to ${Number.MAX_SAFE_INTEGER} or a string`,
    ),
  ),
  location: optional(text),
  ...spanEntries,
}

export const apiFailure: Allowed<ApiFailure> = object<ApiFailure>(apiFailureEntries)

export const issuerFailure: Allowed<IssuerFailure> = object<IssuerFailure>({
  ...apiFailureEntries,
  body: optional(
    either<[string, Record<string, unknown>]>(
      [text, v.record(v.string(), v.unknown())],
      'a string or an object',
    ),
  ),
  contentType: optional(text),
})

export const cut: Allowed<Cut> = object<Cut>({ midBody: optional(trueOrFalse), ...spanEntries })

export function apiFailureAnswer(failure: ApiFailure): Answer {
  const { status } = failure
  const detail = 'The sandbox fails on demand'
  const answer = status === 401 ? invalidToken(detail) : problem(status, detail)
  return { ...answer, headers: { ...answer.headers, ...headersOf(failure) } }
}

export function issuerFailureAnswer(failure: IssuerFailure): Answer {
  const { status, body = errorBody(status), contentType = 'application/json' } = failure
  return {
    status,
    headers: { 'content-type': contentType, ...headersOf(failure) },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  }
}

function headersOf({ retryAfter, location }: ApiFailure): Record<string, string> {
  return {
    ...(retryAfter !== undefined && { 'retry-after': `${retryAfter}` }),
    ...(location !== undefined && { location }),
  }
}

function errorBody(status: number): Record<string, string> {
  const error_description = 'the sandbox fails on demand'
  if (status === 401) return { error: 'invalid_client', error_description }
  if (status >= 500 || status === 429) return { error: 'temporarily_unavailable', error_description }
  return { error: 'invalid_request', error_description }
}
