import { createRequire } from 'node:module'

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

import { clientAuthentications, tokenForms } from './choices.ts'
import type { CallCommandOptions } from './commands/call.ts'
import type { InitOptions } from './commands/init.ts'
import type { JudgeOptions } from './commands/judge.ts'
import type { TokenOptions } from './commands/token.ts'
import type { DoctorOptions } from './doctor/doctor.ts'
import { exitStatus, WrongUsage } from './exit-status.ts'
import { hanging } from './hanging.ts'
import { scenes } from './judge/scenes.ts'
import { output } from './print.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

const help = `
Examples:
  $ npx tokenlane doctor
  $ npx tokenlane doctor --url https://api.example.com/records
  $ npx -- tokenlane doctor --env-file .env --secret-days 10 --json
  $ npx tokenlane token general --print header |
      curl --header @- https://api.example.com/records
  $ npx tokenlane call https://api.example.com/records > records.json
  $ npx tokenlane init https://api.example.com/records
  $ npx tokenlane judge -- python3 client.py
  $ npx tokenlane sandbox

The application is the module that exports \`tokens\`: the one given by --module,
or else tokens.ts or tokens.js in src, lib, app, the current folder or dist.
Without such a module, the options and these environment variables are used:
AUTH_URL, API_URL, GENERAL_CLIENT_ID, GENERAL_CLIENT_SECRET, WEBLINK_AUTH_URL,
WEBLINK_URL, WEBLINK_CLIENT_ID, WEBLINK_CLIENT_SECRET.
With npx, put -- before the command: otherwise Node reads --env-file itself.
No option takes a secret: other users of the machine can read arguments.

Exit status: 0 no problems, 1 findings, 2 invalid usage,
3 the application was not found or cannot be loaded, or the program that judge
started made no calls.`

const cache = 'keep the token on disk, encrypted, and use it again in the next run'

const helpOfThis = 'print this help'

const judgeHelp = `
Scenes:
${scenes.map(({ name, title }) => hanging(`  ${name.padEnd(22)} `, title, 25, 80)).join('\n')}

Each scene starts the program again. The program gets URLs, credentials and the
certificate authority as environment variables, and is stopped with SIGTERM.

Exit status: 0 no problems, 1 findings, 2 invalid usage,
3 the program made no calls.`

/**
 * Runs the command that the arguments name, and returns its exit status.
 *
 * @throws WrongUsage if they name none, or are not those of that command.
 */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let status: number = exitStatus.fine
  const program = createProgram((result) => (status = result))
  try {
    if (argv.length === 0) program.outputHelp()
    else await program.parseAsync([...argv], { from: 'user' })
    return status
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitStatus.fine
    const command = program.commands.find((one) => one.name() === argv[0])
    // the text after = may be a secret
    const message = error.message.replace(/^error: /, '').replaceAll(/(--[\w-]+)=[^\n]*/g, "$1'")
    throw new WrongUsage(`${message}\nSee tokenlane ${command ? `${command.name()} ` : ''}--help`, {
      cause: error,
    })
  }
}

/** Returns the parser of the command line. It calls `end` with the exit status of the command that ran. */
function createProgram(end: (status: number) => void): Command {
  const program = new Command('tokenlane')
    .description('Finds out why calls to an OAuth 2.0 API fail, and how to fix it.')
    .version(version, '-V, --version', 'print the version of this package')
    .addHelpText('after', help)
    .helpOption('-h, --help', helpOfThis)
    .helpCommand('help [command]', "print a command's help")
    .exitOverride()
    .configureOutput({ outputError: () => {}, writeOut: (text) => void output.write(text) })

  application(program.command('doctor'))
    .description('check options, DNS, TLS, clock, tokens, secrets and rate limits, and say what to fix')
    .option('--url <url>', 'make one GET call to this URL, with a token')
    .option('--secret-days <days>', 'warn about secrets with this many days left or fewer', days)
    .option('--json', 'print one JSON object: { ok, findings, looked }')
    .action(async (options: DoctorOptions & { json?: true }) => {
      const { doctor } = await import('./commands/doctor.ts')
      end(await doctor(options))
    })

  application(program.command('token'))
    .description("print an issuer's token, and nothing else")
    .argument('[issuer]', 'its name, such as general; not needed if there is only one')
    .argument('[operation]', 'what git adds to the command of a credential.helper')
    .addOption(new Option('--print <form>', 'what to print').choices(tokenForms).default('token'))
    .option('--show', 'print it even to a terminal')
    .option('--cache', cache)
    .action(async (issuer: string | undefined, operation: string | undefined, options: TokenOptions) => {
      const { token } = await import('./commands/token.ts')
      end(await token([issuer, operation], options))
    })

  application(program.command('call'))
    .description('make one call: write each event to standard error, and the body to standard output')
    .argument('<url>', "an API's absolute URL")
    .option('--method <method>', 'HTTP method', 'GET')
    .option('--timeout <seconds>', 'how long to wait for the response (default: 30)', seconds)
    .option('--cache', cache)
    .action(async (url: string, options: CallCommandOptions) => {
      const { call } = await import('./commands/call.ts')
      end(await call(url, options))
    })

  program
    .command('init')
    .helpOption('-h, --help', helpOfThis)
    .description('read what an API publishes about its tokens, and print tokens.ts and .env')
    .argument('<url>', 'a URL of the API')
    .option('--issuer <url>', 'authorization server to contact; name only one you trust')
    .option('--token-endpoint <url>', 'where tokens are issued, instead of --issuer')
    .option('--name <name>', "the issuer's name in tokens.ts")
    .option('--base-url <url>', "what all the API's URLs begin with")
    .addOption(
      new Option('--client-authentication <method>', 'how the client authenticates').choices(
        clientAuthentications,
      ),
    )
    .option('--scope <scopes>', 'scopes to request, separated by spaces')
    .option('--no-resource', 'leave `resource` out of token requests')
    .option('--write <file>', 'write tokens.ts to this new file, and print only .env')
    .action(async (url: string, options: InitOptions) => {
      const { init } = await import('./commands/init.ts')
      end(await init(url, options))
    })

  program
    .command('judge')
    .description('grade a program in any language: simulate production failures, and count what they cost')
    .helpOption('-h, --help', helpOfThis)
    .argument('<command...>', 'the program to run, after --; it must make calls until it is stopped')
    .option('--scene <name>', 'play only this scene; repeatable', (name, all?: string[]) => [
      ...(all ?? []),
      name,
    ])
    .option('--json', 'print one JSON object: { ok, grade, seed, scenes }')
    .option('--junit <file>', 'also write a JUnit report')
    .option('--sarif <file>', 'also write a SARIF 2.1.0 log')
    .option('--seed <number>', 'repeat the same network delays', seed, 1)
    .addOption(
      new Option('--authentication <method>', 'how the issuers want the client to authenticate')
        .choices(['client_secret_post', 'client_secret_basic'])
        .default('client_secret_post'),
    )
    .addHelpText('after', judgeHelp)
    .action(async (command: string[], options: JudgeOptions) => {
      const { judge } = await import('./commands/judge.ts')
      end(await judge(command, options))
    })

  // stands here for the help only: `runTokenlane` starts the sandbox, which parses its own arguments
  program.command('sandbox').description('start two issuers and two APIs on this machine; see sandbox --help')
  return program
}

function application(command: Command): Command {
  return command
    .helpOption('-h, --help', helpOfThis)
    .option('--module <path>', 'module that exports `tokens`, TypeScript or JavaScript')
    .option('--load-timeout <seconds>', 'how long that module may take to load (default: 10)', seconds)
    .option('--env-file <path>', 'file of environment variables')
    .option('--auth-url <url>', 'general issuer, instead of AUTH_URL')
    .option('--api-url <url>', 'its API, instead of API_URL')
    .option('--weblink-auth-url <url>', 'weblink issuer, instead of WEBLINK_AUTH_URL')
    .option('--weblink-url <url>', 'its API, instead of WEBLINK_URL')
}

const seconds = whole(' of seconds,', 1, 9_999)
const days = whole(' of days,', 0, 9_999)
const seed = whole('', 0, 2 ** 32 - 1)

/** Returns what reads an option that is a whole number. */
function whole(of: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : -1
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number${of} from ${least} to ${most}.`)
  }
}
