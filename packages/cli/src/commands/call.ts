import { once } from 'node:events'
import { Readable } from 'node:stream'

import { describeEvent, isTokenlaneError, type TokenManager } from '@tokenlane/core'
import { printable } from '@tokenlane/core/adapter'
import { createFetch } from '@tokenlane/fetch'

import type { Source } from '../application/application.ts'
import { missingText } from '../application/from-environment.ts'
import { withManager } from '../application/with-application.ts'
import { exitStatus, mustBeAbsolute } from '../exit-status.ts'
import { failureCode } from '../failure-code.ts'
import { columnsOf, hanging } from '../hanging.ts'
import { output } from '../print.ts'

export interface CallCommandOptions extends Source {
  readonly method: string
  /** How long the call may take until its response begins, in seconds. */
  readonly timeout?: number
}

/**
 * Makes one call through the token manager and returns the exit status. Writes each event to standard error and the
 * body of the response to standard output. A response that does not begin within `timeout` ends the call.
 *
 * @throws WrongUsage if `url` is not an absolute HTTP or HTTPS URL.
 */
export async function call(url: string, options: CallCommandOptions): Promise<number> {
  mustBeAbsolute(url)
  return withManager(options, async ({ tokens, missingApis }) => {
    const start = performance.now()
    const tell = (text: string): void => {
      const at = `${Math.round(performance.now() - start)} ms`.padStart(9)
      // as wide as the terminal; a file gets one line for each event
      console.error(hanging(`${at}  `, printable(text, 1_000), 11, columnsOf(process.stderr, Infinity)))
    }
    try {
      tellRoute(tokens.route(url), missingApis, tell)
      return await tellCall(tokens, url, options, tell)
    } catch (error) {
      const says = isTokenlaneError(error) || error instanceof NoResponse
      tell(says ? error.message : `The call failed: ${failureCode(error)}`)
      console.error('Run `tokenlane doctor` to find out why')
      return exitStatus.findings
    }
  })
}

function tellRoute(
  api: ReturnType<TokenManager['route']>,
  missingApis: readonly string[],
  tell: (text: string) => void,
): void {
  if (api) return tell(`The URL belongs to ${api.baseUrl}, which accepts tokens from ${api.issuer}`)
  const missing = missingApis.length > 0 ? `. ${missingText(missingApis)}` : ''
  tell(`The URL is outside every configured API, so the call is sent without a token${missing}`)
}

async function tellCall(
  tokens: TokenManager,
  url: string,
  { method, timeout = 30 }: CallCommandOptions,
  tell: (text: string) => void,
): Promise<number> {
  const heard = hearConsole()
  tokens.observe((event) => {
    const text = describeEvent(event)
    if (!heard.has(text)) tell(text)
  })
  const response = await withTimeLimit(timeout, tell, async (signal) =>
    createFetch(tokens)(url, { method, signal }),
  )
  tell(`status ${response.status}, ${printable(response.headers.get('content-type') ?? 'no content type')}`)
  if (response.body !== null) await write(response.body)
  // the prompt of the shell begins on a line of its own
  if (output.isTTY) output.write('\n')
  return response.ok ? exitStatus.fine : exitStatus.findings
}

/** Returns what is printed from now on: a `logObserver` of the application says the same about an event. */
function hearConsole(): ReadonlySet<unknown> {
  const heard = new Set<unknown>()
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    const original = console[level]
    console[level] = (...given: unknown[]) => {
      heard.add(given[0])
      original(...given)
    }
  }
  return heard
}

async function write(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const part of Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]))
    if (!output.write(part as Uint8Array)) await once(output, 'drain')
}

export class NoResponse extends Error {}

/** How long the command waits for a response before it tells the user, in milliseconds. */
const quietTime = 2_000

/**
 * Returns what `request` returns. Says when it takes long, and aborts it after `seconds`.
 *
 * @throws NoResponse after that time.
 */
export async function withTimeLimit<T>(
  seconds: number,
  tell: (text: string) => void,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const notice = setTimeout(() => tell(`No response yet: the call waits ${seconds} s at most`), quietTime)
  const limit = setTimeout(() => late.abort(), seconds * 1_000)
  try {
    return await request(late.signal)
  } catch (error) {
    throw late.signal.aborted ? new NoResponse(`The call failed: no response in ${seconds} s`) : error
  } finally {
    clearTimeout(notice)
    clearTimeout(limit)
  }
}
