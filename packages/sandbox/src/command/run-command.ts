import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { WrongValueError } from '../allowed.ts'
import { quoted } from '../in-words.ts'
import type { Scenario } from '../control/scenario.ts'
import type { Sandbox } from '../start-sandbox.ts'
import { inOptionWords, parseArguments, type CommandName, type CommandOptions } from './options.ts'
import { markdownReport, nothingFound, verdictText, welcome } from './report.ts'
import { onStopSignals, runChild, statusOfSignal } from './child.ts'

const wrongUsage = 2

/** Runs the command, as `runSandboxCommand` says. */
export async function runCommand(argv: readonly string[], name: CommandName): Promise<number> {
  const parsed = parseArguments(argv, name)
  const refuse = (problems: readonly string[]): number => refused(problems, argv, name)
  if (parsed.kind === 'print') {
    console.log(parsed.text)
    return 0
  }
  if (parsed.kind === 'wrong') return refuse(parsed.problems)
  const stop = stopAtSignal()
  // removed at the end, also if the process ends early
  const written: string[] = []
  const clean = (): void => {
    for (const path of written) rmSync(path, { recursive: true, force: true })
  }
  process.once('exit', clean)
  try {
    const folder = newFolder()
    written.push(folder)
    return await run(parsed.options, join(folder, 'ca.pem'), written, stop)
  } catch (error) {
    if (error instanceof WrongValueError || error instanceof Unusable)
      return refuse(error.message.split('\n').map(inOptionWords))
    throw error
  } finally {
    clean()
    process.off('exit', clean)
  }
}

/** Thrown for a file of an option that cannot be read or written, and for ports that are taken. */
class Unusable extends Error {}

/** Says what is wrong, with `--json` on standard output too, and returns the exit status. */
function refused(problems: readonly string[], argv: readonly string[], name: CommandName): number {
  for (const problem of problems) console.error(problem)
  console.error(`See ${name} --help`)
  const border = argv.indexOf('--')
  if (argv.slice(0, border === -1 ? argv.length : border).includes('--json'))
    console.log(JSON.stringify({ ok: false, error: problems.join('\n') }))
  return wrongUsage
}

async function run(
  options: CommandOptions,
  caFile: string,
  written: string[],
  stop: AbortSignal,
): Promise<number> {
  const { json, command, writeEnv } = options
  const { scenario: file, report } = options
  const scenario =
    file && orRefuse('read the scenario', () => JSON.parse(readFileSync(file, 'utf8')) as Scenario)
  // what would be lost at the end; what the file has stays until then
  if (report !== undefined) orRefuse('write --report', () => writeFileSync(report, '', { flag: 'a' }))
  // standard output belongs to the JSON or to the command: the sandbox writes to standard error then
  const say = json || command.length > 0 ? console.error : console.log
  // loaded late, because an OAuth server loads slowly and wrong options do not need it
  const { startSandbox } = await import('../start-sandbox.ts')
  const sandbox = await startSandbox({ ...options.sandbox, caFile })
  try {
    if (options.port !== undefined) mustHavePorts(sandbox, options.port)
    if (scenario) sandbox.control.playScenario(scenario)
    const variables = sandbox.control.environment()
    if (writeEnv !== undefined) {
      const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}\n`)
      // never overwrites a file: it may belong to another program
      const asNew = { flag: 'wx', mode: 0o600 }
      orRefuse('write --write-env', () => writeFileSync(writeEnv, lines.join(''), asNew))
      written.push(writeEnv)
    }
    const end = command.length > 0 ? undefined : ended(stop)
    if (json) console.log(JSON.stringify(description(sandbox, caFile)))
    else if (command.length > 0) say(`The sandbox is ready; its console is ${sandbox.consoleUrl}`)
    else say(welcome(sandbox, caFile))

    const status = await (end ?? runChild(command, variables, json ? 'stderr' : 'stdout', say, stop))
    return conclude(sandbox, options, status, say)
  } finally {
    await sandbox.close()
  }
}

function conclude(
  { control }: Sandbox,
  options: CommandOptions,
  status: number,
  say: (text: string) => void,
): number {
  const verdict = control.verdict()
  if (options.json) console.log(JSON.stringify({ verdict }))
  else say(`\n${verdictText(verdict, (id) => control.journal({ id })[0], nothingFound(control))}`)
  if (options.report !== undefined) writeFileSync(options.report, markdownReport(control))
  return options.verdict && status === 0 && !verdict.ok ? 1 : status
}

function description(sandbox: Sandbox, ca: string): Record<string, unknown> {
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl } = sandbox
  const { control, controlUrl, controlToken: token, consoleUrl } = sandbox
  const env = control.environment()
  const urls = { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl }
  return { ...urls, ca, env, control: controlUrl, token, console: consoleUrl }
}

/** Makes a folder for the CA certificate: a container may have no temporary one that can be written to. */
function newFolder(): string {
  const failures: string[] = []
  for (const parent of [tmpdir(), process.cwd()])
    try {
      const folder = mkdtempSync(join(parent, 'tokenlane-sandbox-'))
      if (failures.length > 0)
        console.error(`No temporary folder can be written to (${failures.join()}): using ${folder}`)
      return folder
    } catch (error) {
      failures.push((error as Error).message)
    }
  throw new Unusable(
    `No folder for the CA certificate can be made: ${failures.join('; ')}. Set TMPDIR to one.`,
  )
}

/** Returns what `act` returns, or refuses the option with the reason why it cannot be done. */
function orRefuse<Result>(what: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw new Unusable(`Cannot ${what}: ${(error as Error).message}`)
  }
}

/** Refuses the ports that the sandbox took where one of those that were named was in use. */
function mustHavePorts(sandbox: Sandbox, first: number): void {
  const { controlUrl = '', authUrl, weblinkAuthUrl, apiUrl, weblinkUrl } = sandbox
  const taken = [controlUrl, authUrl, weblinkAuthUrl, apiUrl, weblinkUrl].flatMap((url, offset) =>
    new URL(url).port === `${first + offset}` ? [] : [first + offset],
  )
  if (taken.length > 0)
    throw new Unusable(
      `--port ${first} needs ports ${first} to ${first + 4}, but ${taken.join(', ')} cannot be used (in use or not allowed)`,
    )
}

/**
 * Returns a signal that aborts at Ctrl-C, Ctrl-\\ or a termination signal; its reason is the signal's name. The listeners stay:
 * the default action of a second signal would end the process without its listeners of `exit`, which clean up.
 */
function stopAtSignal(): AbortSignal {
  const stop = new AbortController()
  onStopSignals((name, isFirst) => {
    if (!isFirst) process.exit(statusOfSignal(name))
    stop.abort(name)
  })
  return stop.signal
}

/** Waits until a signal arrives or nobody reads the output any more, and returns exit status 0. */
async function ended(stop: AbortSignal): Promise<number> {
  await new Promise((resolve) => {
    if (stop.aborted) resolve(0)
    stop.addEventListener('abort', resolve)
    // the listener stays: what is written after that fails too
    process.stdout.on('error', resolve)
  })
  return 0
}
