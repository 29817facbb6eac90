#!/usr/bin/env -S node --
// without the two dashes Node would read --env-file as its own option
import { exitStatus } from './exit-status.ts'

// before anything is imported that an older Node cannot load
if (typeof Promise.withResolvers !== 'function') {
  console.error(`tokenlane: Node ${process.version} is too old; use Node 22.19, 24, 26 or later`)
  process.exit(exitStatus.couldNotLook)
}
const { runTokenlane } = await import('./index.ts')
const { output } = await import('./print.ts')

// programs such as `head` close the pipe early, which a socket calls a reset: the command then ends without an error;
// the sandbox does so by itself, because it has files to remove
const isSandbox = process.argv[2] === 'sandbox'
if (!isSandbox)
  output.on('error', ({ code }: NodeJS.ErrnoException) => {
    const isClosed = code === 'EPIPE' || code === 'ECONNRESET'
    if (!isClosed) console.error(`Cannot write to standard output: ${code}`)
    process.removeAllListeners('exit').exit(isClosed ? 0 : exitStatus.couldNotLook)
  })

const status = await runTokenlane(process.argv.slice(2))

// an application's module may keep connections open: end as soon as the output is written
output.write('', (error) => {
  // otherwise the listener ends it
  if (!error || isSandbox) process.stderr.write('', () => process.exit(status))
})
