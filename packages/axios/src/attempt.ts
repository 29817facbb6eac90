import { discardBody, type Attempt, type Exchange, type Report } from '@tokenlane/core/adapter'
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import { copyOf } from './copy-of.ts'
import type { formsOf } from './form.ts'
import { hideOtherWays, hideRequestOf } from './hide-ways.ts'
import { judgedTransport } from './judged-transport.ts'
import { dropToken, redirectRule, type RedirectContext } from './redirect-rule.ts'
import type { Target } from './target.ts'

type Config = InternalAxiosRequestConfig

export interface AttemptContext extends RedirectContext {
  /** As the caller gave them: axios adds to those of an attempt. */
  readonly headers: Config['headers']
  readonly send: (config: Config) => Promise<AxiosResponse>
  readonly target: Target
  readonly forms: ReturnType<typeof formsOf>
  readonly isFetch: boolean
  readonly isHttps: boolean
}

/** What the caller gets: a response, or the error that axios made. */
export type Outcome = { readonly response: AxiosResponse } | { readonly error: unknown }

/** Sends one attempt, with a copy of the caller's configuration that alone has the token. */
export async function attempt(
  given: Config,
  authorization: string,
  judge: Parameters<Attempt<Outcome>>[1],
  context: AttemptContext,
): Promise<Exchange<Outcome>> {
  const redirects = redirectRule(context, authorization, given.beforeRedirect)
  const headers = context.headers.concat({ Authorization: authorization })
  // what a request said that dropped the token says nothing about it, nor does a redirect about the call
  const isUnwanted = (report: Report): boolean =>
    report.status >= 400 && judge({ ...report, status: redirects.judgedBy() ?? report.status }) === 'again'
  const transport = judgedTransport(given, { ...context, authorization }, isUnwanted)
  const { beforeRedirect } = redirects

  const settle = async (sent: Config): Promise<{ result: Outcome; response: AxiosResponse }> => {
    const hide = (holder: Partial<AxiosResponse> | undefined): void => {
      if (holder?.config === sent) holder.config = given
      // an adapter of the caller's may hand on a copy
      else dropToken(authorization, holder?.config?.headers)
      hideRequestOf(holder)
    }
    try {
      const response = await context.send(sent)
      hide(response)
      return { result: { response }, response }
    } catch (error) {
      const failed = error as Partial<AxiosResponse> & { readonly response?: AxiosResponse }
      hide(failed)
      hide(failed.response)
      hideOtherWays(failed)
      // a status that axios makes an error of is a response like any other
      if (failed.response === undefined) throw error
      return { result: { error }, response: failed.response }
    } finally {
      // also for the error that a stream may make of it later; the rest says what axios has sent
      headers.delete('Authorization')
      given.headers = headers
    }
  }

  const { target, forms } = context
  const data: unknown = forms?.next().value ?? given.data
  const { result, response } = await settle(
    copyOf(given, { ...target, ...transport.options, headers, beforeRedirect, data }),
  )
  const refused = transport.refused()
  return {
    status: redirects.judgedBy() ?? response.status,
    header: (name) => headerOf(response, name),
    result,
    follow:
      refused && (async () => (await settle(copyOf(given, { ...target, ...(await refused()) }))).result),
    async discard() {
      await discard(response)
      await refused?.()
    },
  }
}

function headerOf({ headers }: AxiosResponse, name: string): string | undefined {
  const value: unknown = headers?.[name]
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined
}

/** Frees the connection of a streamed response that is not the caller's. Other responses have been read already. */
async function discard({ config, data }: AxiosResponse): Promise<void> {
  const { responseType } = config as { responseType?: string }
  if (responseType === 'stream') await discardBody(data as AsyncIterable<Uint8Array>)
  if (responseType === 'response') await discardBody((data as Response).body)
}
