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

/** Opens a page in a real browser, with a profile of its own, until it is disposed of. */
export async function openInChromium(url: string): Promise<AsyncDisposable> {
  const profile = await mkdtemp(join(tmpdir(), 'tokenlane-chromium-'))
  const command = process.env['CHROMIUM_PATH'] ?? 'chromium'
  const browser = spawn(command, [...quiet, `--user-data-dir=${profile}`, url], {
    stdio: 'ignore',
    detached: true,
  })
  try {
    await once(browser, 'spawn')
  } catch (error) {
    throw new Error(missing, { cause: error })
  }
  return {
    async [Symbol.asyncDispose]() {
      await end(browser)
      await rm(profile, { recursive: true, force: true, maxRetries: 10 })
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
