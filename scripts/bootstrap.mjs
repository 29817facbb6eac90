// Runs a command on any machine with npm and Node 20 or newer: node scripts/bootstrap.mjs pnpm lint
// A `+` stands between commands that run one after the other.
// The machine's own Node and pnpm are used where they fit. What is missing comes from npm, as packages, into
// npm's own cache; nothing is installed globally.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE = '24.21.0'
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { packageManager } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const pnpmMajor = /^pnpm@(\d+)\./.exec(packageManager)[1]
const windows = process.platform === 'win32'

const needs =
  `Tokenlane needs Node ^22.19, ^24 or >=26, pnpm ${pnpmMajor} and the dependencies of pnpm-lock.yaml, and not all ` +
  'of them are on this machine: connect it to the npm registry once, and from then on it works offline.'
const networkError = new RegExp(
  [
    'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EPIPE|ENOTCACHED',
    'ERR_SOCKET_TIMEOUT|UND_ERR_\\w*TIMEOUT|ERR_PNPM_(META_)?FETCH_FAIL|ERR_PNPM_NO_OFFLINE|network timeout',
    'fetch failed|socket hang up|error sending request|dns error|connection refused|network is unreachable',
  ].join('|'),
  'i',
)

// a missing network is to be reported in seconds; pnpm waits more than a minute
const fewRetries = ['fetch-retries=2', 'fetch-retry-mintimeout=500', 'fetch-retry-maxtimeout=1000']

// npm and pnpm are .cmd files on Windows, which only a shell starts, and the shell wants one quoted line
const commandLine = (command, args) =>
  windows ? [[command, ...args.map((arg) => `"${arg.replaceAll('"', '\\"')}"`)].join(' ')] : [command, args]
const options = (env, more) => ({ cwd: root, shell: windows, env, ...more })

/**
 * Runs a tool without showing its output, and returns it; the process ends with the reason if the tool fails. What takes
 * longer than a second says what it is, then a dot each second.
 */
async function quietly(what, env, command, args) {
  const tool = spawn(...commandLine(command, args), options(env, { stdio: ['ignore', 'pipe', 'pipe'] }))
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    tool[name].setEncoding('utf8').on('data', (text) => {
      printed[name] += text
    })
  let seconds = 0
  const dots = setInterval(() => {
    process.stderr.write(seconds === 0 ? `${what} .` : '.')
    seconds += 1
  }, 1_000)
  const end = await new Promise((resolve) => {
    tool.on('error', (error) => resolve({ error }))
    tool.on('close', (status, signal) => resolve({ status, signal }))
  })
  clearInterval(dots)
  if (seconds > 0) process.stderr.write(end.status === 0 ? ' done\n' : '\n')
  if (end.status === 0) return printed.stdout
  const output = [printed.stdout, printed.stderr, end.error?.message].filter(Boolean).join('\n').trim()
  if (end.signal) process.kill(process.pid, end.signal)
  console.error(networkError.test(output) ? needs : `${command} ${args[0]} failed:\n${output}`)
  return process.exit(1)
}

function nodeFits(version) {
  const [major, minor] = version.replace('v', '').split('.').map(Number)
  return (major === 22 && minor >= 19) || major === 24 || major >= 26
}

/** Outside of the workspace, and without corepack's downloads: what counts is what is here already. */
function pnpmFits(env) {
  const probe = spawnSync(
    ...commandLine('pnpm', ['--version']),
    options({ ...env, COREPACK_ENABLE_NETWORK: '0' }, { cwd: tmpdir(), encoding: 'utf8', timeout: 10_000 }),
  )
  return probe.status === 0 && probe.stdout.startsWith(`${pnpmMajor}.`)
}

const withPath = (env, path) => {
  const others = Object.entries(env).filter(([name]) => name.toUpperCase() !== 'PATH')
  return { ...Object.fromEntries(others), PATH: path }
}

/** The environment in which `node` and `pnpm` are ones that fit. */
async function toolchain() {
  // the Node that runs this file counts, even if another one comes first on the PATH
  const own = withPath(process.env, [dirname(process.execPath), process.env.PATH].join(delimiter))
  const missing = []
  // for Linux not the package `node`: it gets its binary in an install script, which npm may be told to skip
  const node = `${process.platform === 'linux' ? `node-linux-${process.arch}` : 'node'}@${NODE}`
  if (!nodeFits(process.version)) missing.push(node)
  if (!pnpmFits(own)) missing.push(packageManager)
  if (missing.length === 0) return own

  const what = `preparing ${missing.join(' and ')} from npm`
  const printed = await quietly(what, own, 'npm', [
    'exec',
    '--yes',
    ...fewRetries.map((setting) => `--${setting}`),
    ...missing.map((name) => `--package=${name}`),
    '--call=node -v && node -p process.env.PATH',
  ])
  const [version, path] = printed.trim().split(/\r?\n/).slice(-2)
  if (!nodeFits(version)) {
    console.error(
      `npm installed ${node}, and still \`node\` is ${version}: are install scripts switched off?`,
    )
    process.exit(1)
  }
  return withPath(process.env, path)
}

const commands = [[]]
for (const argument of process.argv.slice(2))
  if (argument === '+') commands.push([])
  else commands.at(-1).push(argument)
if (commands.some(([command]) => command === undefined)) {
  console.error('usage: node scripts/bootstrap.mjs <command> [argument ...] [+ <command> ...]')
  process.exit(2)
}

const env = await toolchain()
env.PATH = [join(root, 'node_modules', '.bin'), env.PATH].join(delimiter)
await quietly('installing the dependencies', env, 'pnpm', [
  'install',
  '--frozen-lockfile',
  ...fewRetries.map((setting) => `--config.${setting}`),
])

// The child decides when it is over. A terminal's Ctrl-C reaches it anyway; a second one would cut its end short.
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
let child
const forward = (signal) => {
  if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
}
for (const signal of signals) process.on(signal, forward)

for (const [command, ...args] of commands) {
  child = spawn(...commandLine(command, args), options(env, { stdio: 'inherit' }))
  const { status, signal } = await new Promise((resolve) => {
    child.on('error', ({ message }) => resolve({ status: 1, signal: console.error(message) }))
    child.on('exit', (code, by) => resolve({ status: code, signal: by }))
  })
  if (signal) {
    for (const name of signals) process.off(name, forward)
    process.kill(process.pid, signal)
    break
  }
  process.exitCode = status
  if (status !== 0) break
}
for (const name of signals) process.off(name, forward)
