import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tokenlane/sandbox'

const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error('Say what to run against the sandbox: node main.ts <command> [arguments]')
  process.exit(2)
}

const limits = [{ quota: 25, window: 1_000 }]
const sandbox = await startSandbox({ ratePolicies: { general: { limits }, weblink: { limits } } })
const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
const ca = join(folder, 'ca.pem')
writeFileSync(ca, sandbox.ca)
const { general, weblink } = sandbox.credentials

const child = spawn(command, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    AUTH_URL: sandbox.authUrl,
    API_URL: sandbox.apiUrl,
    GENERAL_CLIENT_ID: general.clientId,
    GENERAL_CLIENT_SECRET: general.clientSecret,
    WEBLINK_AUTH_URL: sandbox.weblinkAuthUrl,
    WEBLINK_URL: sandbox.weblinkUrl,
    WEBLINK_CLIENT_ID: weblink.clientId,
    WEBLINK_CLIENT_SECRET: weblink.clientSecret,
    NODE_EXTRA_CA_CERTS: ca,
  },
})
// Ctrl-C reaches the command by itself, and the sandbox is there until it has ended
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))

try {
  const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  process.exitCode = signal === null ? (status ?? 1) : 128 + constants.signals[signal]
} catch (error) {
  console.error(`${command} could not be started: ${(error as NodeJS.ErrnoException).code}`)
  process.exitCode = 127
} finally {
  await sandbox.close()
  rmSync(folder, { recursive: true })
}
