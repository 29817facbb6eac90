// Long: runs the example on a terminal, which Python makes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

/** Starts the example on a terminal: Python passes on what it reads and what is typed. */
function onTerminal(env: NodeJS.ProcessEnv) {
  const program = 'import pty, sys; pty.spawn(sys.argv[1:])'
  const args = ['-c', program, process.execPath, main, '--seconds', '3']
  const child = spawn('python3', args, { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const seen = { text: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (seen.text += part))
  return { child, seen }
}

test('on a terminal the page stays until a key is pressed', async () => {
  const { child, seen } = onTerminal({ CI: '' })
  await vi.waitFor(() => expect(seen.text).toContain('stays open until you press a key'))
  const [url = ''] = /http:\/\/\S+(?=\s*$)/.exec(seen.text) ?? []
  expect((await fetch(url)).status).toBe(200)
  child.stdin.write('q')
  await once(child, 'exit')
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('on a terminal of CI nobody presses a key, and it ends by itself', async () => {
  const { child, seen } = onTerminal({ CI: 'true' })
  await once(child, 'exit')
  expect(seen.text).toContain('Watch it: http')
  expect(seen.text).not.toContain('press a key')
})
