#!/usr/bin/env -S node --
// without the two dashes Node would take the option --env-file for its own
import { runSandboxCommand } from './command.ts'

process.exitCode = await runSandboxCommand(process.argv.slice(2))
