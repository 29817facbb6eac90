import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Sandbox } from '@tokenlane/sandbox'

import { WrongUsage } from '../exit-status.ts'

export interface Program {
  /** Aborts when the program ends; its reason says in words how it ended. */
  readonly ended: AbortSignal
  output(): string
  stop(): Promise<void>
}

/** How long a program may take to end after SIGTERM, in milliseconds. */
const grace = 2_000
const keptOutput = 2_000

/**
 * Starts a command with these variables beside those of this process.
 *
 * @throws WrongUsage if it cannot be started.
 */
export async function startProgram(
  [command = '', ...args]: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Program> {
  const ended = new AbortController()
  let output = ''
  // a group of its own: what a shell has started ends with it
  const child = spawn(command, args, {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-keptOutput)))
  child.once('exit', (status, signal) => {
    ended.abort(signal === null ? `with status ${status}` : `killed by ${signal}`)
  })
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (process.platform === 'win32' || child.pid === undefined) child.kill(signal)
      else process.kill(-child.pid, signal)
    } catch {
      // all of it has ended
    }
  }
  const killAtExit = (): void => kill('SIGKILL')
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw new WrongUsage(`Cannot start ${command}: ${(error as NodeJS.ErrnoException).code}`)
  }
  process.once('exit', killAtExit)

  return {
    ended: ended.signal,
    output: () => output.trim(),
    async stop() {
      kill('SIGTERM')
      await sleep(grace, undefined, { signal: ended.signal }).catch(() => {})
      kill('SIGKILL')
      process.off('exit', killAtExit)
    },
  }
}

/** How many callers the program is asked to have for each API. */
export const callers = 10

/** How many calls a second each API allows, unless a scene says otherwise: more than the callers make. */
const callsPerSecond = 500

export interface ProgramFiles {
  readonly ca: string
  readonly general: string
  readonly weblink: string
}

export function environmentOf(
  { control }: Sandbox,
  { ca, general, weblink }: ProgramFiles,
  scene: string,
): Record<string, string> {
  const { issuers } = control.state()
  return {
    ...control.environment(),
    GENERAL_TOKEN_URL: issuers.general.tokenEndpoint,
    WEBLINK_TOKEN_URL: issuers.weblink.tokenEndpoint,
    WEBLINK_SCOPE: issuers.weblink.scope,
    GENERAL_CREDENTIALS_FILE: general,
    WEBLINK_CREDENTIALS_FILE: weblink,
    CALLERS: `${callers}`,
    CALLS_PER_SECOND: `${callsPerSecond}`,
    SCENE: scene,
    // OpenSSL, and so Python, Ruby and Go; requests of Python; curl
    SSL_CERT_FILE: ca,
    REQUESTS_CA_BUNDLE: ca,
    CURL_CA_BUNDLE: ca,
  }
}
