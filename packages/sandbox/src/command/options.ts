import { Command, CommanderError } from 'commander'

import type { StrictRatePolicy, RateLimit } from '../api/strict-rate.ts'
import { durationForm, objectIn, parseDuration } from '../in-words.ts'
import { realms, type Realm } from '../realm.ts'
import type { IssuerSettings } from '../issuer/issuer-settings.ts'
import type { SandboxOptions } from '../sandbox-options.ts'

export interface CommandOptions {
  sandbox: SandboxOptions
  /** The first of the five ports, if it was named: then all five must be free. */
  port: number | undefined
  writeEnv: string | undefined
  scenario: string | undefined
  /** A file to write a report to at the end, in Markdown. */
  report: string | undefined
  json: boolean
  /** Whether the exit status is 1 instead of 0 if the verdict finds an error. */
  verdict: boolean
  command: readonly string[]
}

export type Parsed =
  | { kind: 'run'; options: CommandOptions }
  | { kind: 'print'; text: string }
  | { kind: 'wrong'; problems: readonly string[] }

/** First of the five ports that the command uses where they are free, unless others are named. */
const defaultPort = 8_420

interface Given {
  policy?: string[]
  authentication?: string[]
  metadata?: true
  scope?: string[]
  tokenPath?: string[]
  lifetime?: string
  records?: string
  delays?: string
  seed?: string
  port?: string
  host?: string
  hostname?: string
  claims?: string[]
  writeEnv?: string
  scenario?: string
  report?: string
  json?: true
  verdict?: true
}

/** What the user typed: this package's own command, or that of the package `tokenlane`. */
export type CommandName = 'tokenlane-sandbox' | 'tokenlane sandbox'

const helpOf = (name: CommandName): string => `
Examples:
  $ ${name}
  $ ${name} --policy weblink=25/1s --lifetime 60s
  $ ${name} --verdict -- node app.js

A command after -- gets the sandbox's URLs and credentials as environment
variables. The sandbox ends when the command ends, with the same exit status.
With --verdict, status 0 becomes 1 if the verdict finds an error. Status 2 means
invalid options, and 127 means that the command cannot be started.`

const collect = (value: string, before: string[] = []): string[] => [...before, value]

function createProgram(name: CommandName): Command {
  return new Command(name)
    .description(
      'Two token issuers and two APIs on this machine: watch what your client does, break things, get a verdict.',
    )
    .usage('[options] [-- command [arguments ...]]')
    .option(
      '--policy <api=quota/window>',
      "an API's rate policy, for example weblink=25/1s or general=3/1s,180/1m; repeatable",
      collect,
    )
    .option('--lifetime <time>', 'lifetime of the tokens, for example 60s (default: 1h)')
    .option('--records <number>', 'how many records each API has (default: 5000)')
    .option('--delays <min-max>', 'network delay of calls and responses, for example 2ms-30ms')
    .option('--seed <number>', 'repeat the random choices of a run')
    .option(
      '--port <number>',
      `first of five ports in a row, which must all be free (default: ${defaultPort}, or a free port for each that is taken)`,
    )
    .option('--host <address>', 'address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1)')
    .option('--hostname <name>', 'name of the sandbox in its URLs and its certificate, such as sandbox')
    .option('--claims <issuer=json>', 'claims of its access tokens, which are JWTs then; repeatable', collect)
    .option(
      '--authentication <issuer=method>',
      'client_secret_post, client_secret_basic or private_key_jwt; repeatable',
      collect,
    )
    .option('--metadata', 'both issuers publish metadata, as oauthIssuer({ issuer }) expects')
    .option('--scope <issuer=scopes>', 'scopes that a token request must name; repeatable', collect)
    .option('--token-path <issuer=path>', "the token endpoint's path; repeatable", collect)
    .option('--scenario <file.json>', 'JSON file with a scenario: what happens to the service, and when')
    .option(
      '--write-env <file>',
      'write the environment variables to a new file, and remove it at the end. Load the file in a shell: set -a; . ./file; set +a (node --env-file comes too late for NODE_EXTRA_CA_CERTS)',
    )
    .option(
      '--report <file.md>',
      'at the end, write what arrived and the verdict to a Markdown file, replacing an earlier report',
    )
    .option('--json', 'print one JSON object when ready, and the verdict as another one at the end')
    .option('--verdict', 'exit with status 1 instead of 0 if the verdict finds an error')
    .addHelpText('after', helpOf(name))
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
}

export function parseArguments(argv: readonly string[], name: CommandName = 'tokenlane-sandbox'): Parsed {
  const border = argv.indexOf('--')
  const own = border === -1 ? argv : argv.slice(0, border)
  const command = border === -1 ? [] : argv.slice(border + 1)
  const program = createProgram(name)
  const problems: string[] = []
  if (own.includes('--help') || own.includes('-h')) return { kind: 'print', text: helpText(program) }

  try {
    const { operands, unknown } = program.parseOptions([...own])
    // what follows an unknown option may be its value
    for (const option of unknown) if (option.startsWith('-')) problems.push(unknownOption(option, program))
    if (operands.length > 0) problems.push(`Put a command after --: ${name} -- ${operands.join(' ')}`)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    problems.push(error.message.replace(/^error: /, ''))
  }
  if (border !== -1 && command.length === 0)
    problems.push('Put a command after --, for example: -- node app.js')

  const given: Given = program.opts()
  const sandbox = sandboxOptions(given, problems)
  if (problems.length > 0) return { kind: 'wrong', problems }
  const { writeEnv, scenario, report, json = false, verdict = false } = given
  const named = given.port === undefined ? undefined : sandbox.port
  return {
    kind: 'run',
    options: { sandbox, port: named, writeEnv, scenario, report, json, verdict, command },
  }
}

function helpText(program: Command): string {
  let text = ''
  program.configureOutput({ writeOut: (part) => (text += part) })
  program.outputHelp()
  return text.trimEnd()
}

function unknownOption(option: string, program: Command): string {
  const [name = ''] = option.split('=', 1)
  const allowed = program.options.map(({ long }) => long)
  if (allowed.includes(name)) return `${name} takes no value`
  return `Unknown option ${name}${didYouMean(name)}; allowed: ${allowed.join(', ')}, --help`
}

/** Returns the parser's hint at the option that was probably meant, or an empty string if none is close. */
function didYouMean(name: string): string {
  try {
    createProgram('tokenlane-sandbox').parse([name], { from: 'user' })
  } catch (error) {
    const [, nearest] = /\(Did you mean (?:one of )?([^)]+)\?\)/.exec((error as Error).message) ?? []
    if (nearest !== undefined) return ` (did you mean ${nearest}?)`
  }
  return ''
}

function sandboxOptions(given: Given, problems: string[]): SandboxOptions {
  const read = <Value>(
    name: keyof Given,
    form: string,
    parse: (text: string) => Value | undefined,
  ): Value | undefined => {
    const text = given[name]
    if (typeof text !== 'string') return undefined
    const value = parse(text)
    if (value === undefined) problems.push(`--${name} must be ${form}, not ${text}`)
    return value
  }

  const issuers = issuerSettings(given, problems)
  const named = {
    tokenLifetime: read('lifetime', durationForm, parseDuration),
    records: read('records', 'a whole number from 0 to 9999999', whole(9_999_999)),
    delays: read('delays', 'two times such as 2ms-30ms', parseDelays),
    seed: read('seed', 'a whole number from 0 to 4294967295', whole(2 ** 32 - 1)),
    port: read('port', 'a whole number from 1 to 65531', whole(65_531)),
    host: given.host,
    hostname: given.hostname,
    issuers: Object.keys(issuers).length > 0 ? issuers : undefined,
  }
  const ratePolicies: Partial<Record<Realm, StrictRatePolicy>> = {}
  for (const text of given.policy ?? []) {
    const [realm, limits] = parsePolicy(text) ?? []
    if (realm === undefined || limits === undefined) {
      problems.push(`--policy must be like weblink=25/1s or general=3/1s,180/1m, not ${text}`)
    } else ratePolicies[realm] = { limits }
  }
  const options = Object.entries(named).filter(([, value]) => value !== undefined)
  return { control: true, port: defaultPort, ...Object.fromEntries(options), ratePolicies }
}

const ofIssuers = {
  authentication: 'clientAuthentication',
  scope: 'scope',
  tokenPath: 'tokenPath',
  claims: 'claims',
} as const

function issuerSettings(given: Given, problems: string[]): Partial<Record<Realm, IssuerSettings>> {
  const issuers: Partial<Record<Realm, IssuerSettings>> = {}
  const set = (realm: Realm, setting: object): void =>
    void (issuers[realm] = { ...issuers[realm], ...setting })
  for (const [option, setting] of Object.entries(ofIssuers))
    for (const text of given[option as keyof typeof ofIssuers] ?? []) {
      const [name, written = ''] = text.split(/=(.*)/s)
      const realm = realms.find((each) => each === name)
      const value = setting === 'claims' ? objectIn(written) : written
      const form =
        setting === 'claims' ? 'be like general={"roles":["admin"]}' : 'begin with general= or weblink='
      if (realm !== undefined && value !== undefined && text.includes('=')) set(realm, { [setting]: value })
      else problems.push(`${flagOf(option)} must ${form}, not ${text}`)
    }
  if (given.metadata) for (const realm of realms) set(realm, { metadata: true })
  return issuers
}

/** Returns a problem of the sandbox's options in the words of the command: `The text after --authentication general=`. */
export function inOptionWords(problem: string): string {
  return Object.entries(ofIssuers).reduce(
    (text, [option, setting]) =>
      text.replace(new RegExp(`^"issuers\\.(\\w+)\\.${setting}"`), `The text after ${flagOf(option)} $1=`),
    problem
      .replace(/^"tokenLifetime" .*/, '--lifetime must be a time above 0, at most 8760h')
      .replace(/^"delays\.max" .*/, '--delays must be two times of at most 24 days')
      .replace(/^"(host|hostname|port)"/, '--$1'),
  )
}

const flagOf = (option: string): string =>
  `--${option.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`

/** Returns a parser for whole numbers up to `max`, written in digits only. */
const whole = (max: number) => (text: string) =>
  /^\d+$/.test(text) && Number(text) <= max ? Number(text) : undefined

function parseDelays(text: string): { min: number; max: number } | undefined {
  const [min, max] = text.split('-', 2).map((part) => parseDuration(part))
  return min === undefined || max === undefined || max < min ? undefined : { min, max }
}

function parsePolicy(text: string): [Realm, RateLimit[]] | undefined {
  const [name, limitTexts = ''] = text.split(/=(.*)/s)
  const realm = realms.find((each) => each === name)
  const limits = limitTexts.split(',').map((part) => {
    const [, quota, window = ''] = /^(\d+)\/(.+)$/.exec(part) ?? []
    return { quota: Number(quota), window: parseDuration(window) ?? 0 }
  })
  const allRight = limits.every(({ quota, window }) => quota >= 1 && window >= 1)
  return realm === undefined || !allRight ? undefined : [realm, limits]
}
