// The sandbox in a process of its own, so that the client's load does not delay the server's counting.
import { startSandbox, type Sandbox, type SandboxOptions } from '@tokenlane/sandbox'

/** What the sandbox's process tells when it is ready. */
export type Service = Pick<
  Sandbox,
  'authUrl' | 'weblinkAuthUrl' | 'apiUrl' | 'weblinkUrl' | 'ca' | 'credentials'
>

const options = await new Promise((resolve) => {
  process.once('message', resolve)
})
const sandbox = await startSandbox(options as SandboxOptions)
const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, ca, credentials } = sandbox
process.send?.({ authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, ca, credentials } satisfies Service)
process.on('message', () => process.send?.(sandbox.control.counts()))
process.on('disconnect', () => process.exit())
