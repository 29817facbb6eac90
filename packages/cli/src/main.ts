#!/usr/bin/env -S node --
// without the two dashes Node would take the option --env-file for its own
import { runTokenlane } from './index.ts'

// programs such as `head` close the pipe early: the command then ends without an error
process.stdout.on('error', () => process.removeAllListeners('exit').exit())

const status = await runTokenlane(process.argv.slice(2))

// an application's module may keep connections open: end as soon as the output is written
process.stdout.write('', () => process.stderr.write('', () => process.exit(status)))
