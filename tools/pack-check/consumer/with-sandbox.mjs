// Runs a command beside a sandbox: node with-sandbox.mjs deno run calls.mjs
// The command finds the sandbox in SANDBOX, as JSON, and trusts its certificates.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { resolve } from 'node:path'

import { startSandbox } from '@tokenlane/sandbox'

const sandbox = await startSandbox({ records: 30 })
const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials } = sandbox
// of this sandbox alone: others run beside it
const ca = resolve(`ca-${process.pid}.pem`)
writeFileSync(ca, sandbox.ca)

// the sandbox's control is an object, and the command is another process
const control = createServer((_, response) => {
  sandbox.control.revokeTokens()
  response.end()
})
control.listen(0, '127.0.0.1')
await once(control, 'listening')
const revokeUrl = `http://127.0.0.1:${control.address().port}/`

const [command, ...args] = process.argv.slice(2)
const child = spawn(command, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_EXTRA_CA_CERTS: ca,
    DENO_CERT: ca,
    SANDBOX: JSON.stringify({ authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials, revokeUrl }),
  },
})
const [status] = await once(child, 'exit')
process.exitCode = status ?? 1
control.close()
control.closeAllConnections()
await sandbox.close()
