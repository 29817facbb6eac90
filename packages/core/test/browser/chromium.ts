import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const missing =
  'This test needs Chromium, and there is none: `apt-get install chromium` on Debian, or name one in CHROMIUM_PATH.'

const quiet = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A browser that shows a page, until it is disposed of. */
export interface OpenBrowser extends AsyncDisposable {
  /** Rejects if the browser ends by itself. */
  readonly crashed: Promise<never>
}

/** Opens a page in a real browser, with a profile of its own. */
export async function openInChromium(url: string): Promise<OpenBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'tokenlane-chromium-'))
  const forget = (): Promise<void> => rm(profile, { recursive: true, force: true, maxRetries: 10 })
  const command = process.env['CHROMIUM_PATH'] ?? 'chromium'
  const browser = spawn(command, [...quiet, `--user-data-dir=${profile}`, url], {
    stdio: 'ignore',
    detached: true,
  })
  try {
    await once(browser, 'spawn')
  } catch (error) {
    await forget()
    throw new Error(missing, { cause: error })
  }
  const crashed = once(browser, 'exit').then(([code]) => {
    throw new Error(`${command} ended by itself, with status ${code}`)
  })
  crashed.catch(() => {})
  return {
    crashed,
    async [Symbol.asyncDispose]() {
      await end(browser)
      await forget()
    },
  }
}

async function end(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.signalCode !== null) return
  const ended = once(browser, 'exit')
  // it has processes of its own, which are a group with it
  process.kill(-(browser.pid as number), 'SIGKILL')
  await ended
}
