import { discardBody, hidingAgent, type Exchange } from '@tokenlane/core/adapter'
import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import { hideOtherWays, hideRequestOf } from './hide-ways.ts'
import { redirectRule, type RedirectContext } from './redirect-rule.ts'
import type { Target } from './target.ts'
import type { Via } from './via.ts'

type Config = InternalAxiosRequestConfig

/** What every attempt of a call is sent with, besides the caller's configuration. */
export interface AttemptContext extends RedirectContext {
  readonly adapter: AxiosAdapter
  readonly target: Target
  readonly via: Via
}

/** What the caller gets: a response, or the error that axios made. */
export type Outcome = { readonly response: AxiosResponse } | { readonly error: unknown }

/** Sends one attempt, with a copy of the caller's configuration that alone has the token. */
export async function attempt(
  given: Config,
  authorization: string,
  context: AttemptContext,
): Promise<Exchange<Outcome>> {
  const { adapter, target, via } = context
  const redirects = redirectRule(context, authorization, given.beforeRedirect)
  const headers = given.headers.concat({ Authorization: authorization })
  const sent = Object.assign(copyOf(given), {
    ...target,
    headers,
    beforeRedirect: redirects.beforeRedirect,
    httpAgent: hidingAgent<unknown>(given.httpAgent),
    httpsAgent: hidingAgent<unknown>(given.httpsAgent),
    // fetch shows no redirect before it follows it
    ...(via === 'fetch' && followsInFetch(given) && { maxRedirects: 0 }),
  })
  /** Takes the token off a response or an error, whose config may be a copy that an adapter around another one made. */
  const hide = (holder: Partial<AxiosResponse> | undefined): void => {
    if (holder?.config === sent) holder.config = given
    else if (holder?.config?.headers === headers) holder.config.headers = given.headers
    hideRequestOf(holder)
  }
  try {
    const response = await adapter(sent)
    hide(response)
    return exchangeOf({ response }, response, redirects.judgedBy())
  } catch (error) {
    const failed = error as Partial<AxiosResponse> & { readonly response?: AxiosResponse }
    hide(failed)
    hide(failed.response)
    hideOtherWays(failed)
    // a status that axios makes an error of is a response like any other
    if (failed.response === undefined) throw error
    return exchangeOf({ error }, failed.response, redirects.judgedBy())
  } finally {
    // a stream may make an error of it later
    sent.headers = given.headers
  }
}

/** Copies without a prototype, as axios does, against polluted ones. Spreading such an object takes three times as long. */
function copyOf(given: Config): Config {
  const copy = Object.create(null) as Config
  for (const name of Object.keys(given) as 'data'[]) copy[name] = given[name]
  for (const name of Object.getOwnPropertySymbols(given) as unknown[] as 'data'[]) copy[name] = given[name]
  return copy
}

function exchangeOf(result: Outcome, response: AxiosResponse, status = response.status): Exchange<Outcome> {
  return {
    status,
    header(name) {
      const value: unknown = response.headers?.[name]
      return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined
    },
    result,
    discard: () => discard(response),
  }
}

/** Frees the connection of a streamed response that is not the caller's. Other responses have been read already. */
async function discard({ config, data }: AxiosResponse): Promise<void> {
  const { responseType } = config as { responseType?: string }
  if (responseType === 'stream') await discardBody(data as AsyncIterable<Uint8Array>)
  if (responseType === 'response') await discardBody((data as Response).body)
}

function followsInFetch({ fetchOptions }: Config): boolean {
  const redirect: unknown = (fetchOptions as { redirect?: unknown } | undefined)?.redirect
  return redirect === undefined || redirect === 'follow'
}
