#!/usr/bin/env -S node --
// without the two dashes Node would take the option --env-file for its own
import { runTokenlane } from './tokenlane.ts'

process.exitCode = await runTokenlane(process.argv.slice(2))
