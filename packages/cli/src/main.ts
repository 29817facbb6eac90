#!/usr/bin/env -S node --
// without the two dashes Node would take the option --env-file for its own
import { runTokenlane } from './index.ts'

// a reader that has seen enough, such as `head`
process.stdout.on('error', () => process.exit())

const status = await runTokenlane(process.argv.slice(2))

// an application's module may keep connections open: end as soon as all is written
process.stdout.write('', () => process.stderr.write('', () => process.exit(status)))
