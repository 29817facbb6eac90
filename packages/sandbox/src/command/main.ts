#!/usr/bin/env node

// before anything is imported that an older Node cannot load
if (typeof Promise.withResolvers !== 'function') {
  console.error(`tokenlane-sandbox: Node ${process.version} is too old; use Node 22.19, 24, 26 or later`)
  process.exit(3)
}
const { runSandboxCommand } = await import('./command.ts')

const status = await runSandboxCommand(process.argv.slice(2))

// while Node ends by itself, a second signal would be the exit status
process.stdout.write('', () => process.stderr.write('', () => process.exit(status)))
