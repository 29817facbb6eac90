import { either, object, optional, text, trueOrFalse, wholeNumber, type Allowed } from '../allowed.ts'
import { invalidToken, problem, type Answer } from '../server/answer.ts'
import { spanEntries, type FaultSpan } from './fault.ts'
import * as v from 'valibot'

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
