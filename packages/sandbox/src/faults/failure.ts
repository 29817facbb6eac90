import type { OutgoingHttpHeaders } from 'node:http'

import { mustBeNumber, mustBeObject, mustBeString } from '../allowed.ts'
import { problem, type Answer } from '../server/answer.ts'
import { invalidToken } from '../api/bearer.ts'
import type { FaultSpan } from './fault.ts'

/** How an API fails. */
export interface ApiFailure extends FaultSpan {
  /** Status of every answer, 200 to 599. */
  status: number
  /** The `Retry-After` field (RFC 9110 §10.2.3): a number of seconds, or any text, sent as it is. Default: none. */
  retryAfter?: number | string
}

/** How an issuer fails. */
export interface IssuerFailure extends ApiFailure {
  /** Body of every answer: text, or an object that is sent as JSON. Default: an error body of RFC 6749 §5.2. */
  body?: string | Record<string, unknown>
  /**
   * The `Content-Type` field of every answer.
   *
   * @defaultValue 'application/json'
   */
  contentType?: string
}

/** The longest time that a timer of Node can measure, in milliseconds: almost 25 days. */
export const longestTime = 2_147_483_647

const apiFailureKeys = ['status', 'retryAfter', 'for', 'times']

export function checkedSpan(given: FaultSpan): FaultSpan {
  if (given.for !== undefined) mustBeNumber('for', given.for, { min: 0, max: longestTime })
  if (given.times !== undefined) {
    mustBeNumber('times', given.times, { min: 1, max: Number.MAX_SAFE_INTEGER, whole: true })
  }
  return given
}

export function apiFailureAnswer(given: ApiFailure): Answer {
  mustBeObject('failure', given, apiFailureKeys)
  const { status, headers } = checkHead(given)
  const detail = 'The sandbox was told to fail'
  const answer = status === 401 ? invalidToken(detail) : problem(status, detail)
  return { ...answer, headers: { ...answer.headers, ...headers } }
}

export function issuerFailureAnswer(given: IssuerFailure): Answer {
  mustBeObject('failure', given, [...apiFailureKeys, 'body', 'contentType'])
  const { status, headers } = checkHead(given)
  const { body = errorBody(status), contentType = 'application/json' } = given
  return {
    status,
    headers: { 'content-type': mustBeString('contentType', contentType), ...headers },
    body: typeof body === 'object' ? JSON.stringify(body) : mustBeString('body', body),
  }
}

function checkHead({ status, retryAfter }: ApiFailure): { status: number; headers: OutgoingHttpHeaders } {
  mustBeNumber('status', status, { min: 200, max: 599, whole: true })
  if (retryAfter === undefined) return { status, headers: {} }
  if (typeof retryAfter !== 'string') {
    mustBeNumber('retryAfter', retryAfter, { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true })
  }
  return { status, headers: { 'retry-after': `${retryAfter}` } }
}

function errorBody(status: number): Record<string, string> {
  const error_description = 'the sandbox was told to fail'
  if (status === 401) return { error: 'invalid_client', error_description }
  if (status >= 500 || status === 429) return { error: 'temporarily_unavailable', error_description }
  return { error: 'invalid_request', error_description }
}
