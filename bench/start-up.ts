// What a process waits for before its first call: importing each package as it is published, and making a manager.
import { spawnSync } from 'node:child_process'

import type { ColdCallFigures, ColdCallOrder } from './children/cold-call.ts'
import type { ServicePlace } from './children/http-service.ts'
import type { StartUpFigures, StartUpOrder } from './children/start-up.ts'
import { installBuilt } from './support/built.ts'
import { startChild, tellOf } from './support/child.ts'
import { interleaved, spreadOf, spreadText } from './support/rounds.ts'
import { printTable } from './support/figures.ts'

const quick = process.argv.includes('--quick')
const rounds = quick ? 5 : 15

interface Case {
  /** What is loaded before: an application that uses an adapter uses its client anyway. */
  readonly before?: readonly string[]
  readonly imports: readonly string[]
}

const base = 'p-queue and oauth4webapi'
const cases: Readonly<Record<string, Case>> = {
  [base]: { imports: ['p-queue', 'oauth4webapi'] },
  '@tokenlane/core': { imports: ['@tokenlane/core'] },
  'core and @tokenlane/fetch': { imports: ['@tokenlane/core', '@tokenlane/fetch'] },
  'core and @tokenlane/axios, on top of axios': {
    before: ['axios'],
    imports: ['@tokenlane/core', '@tokenlane/axios'],
  },
  'core and @tokenlane/got, on top of got': {
    before: ['got'],
    imports: ['@tokenlane/core', '@tokenlane/got'],
  },
  'core and @tokenlane/ky, on top of ky': { before: ['ky'], imports: ['@tokenlane/core', '@tokenlane/ky'] },
  axios: { imports: ['axios'] },
  got: { imports: ['got'] },
  ky: { imports: ['ky'] },
  'axios-auth-refresh, on top of axios': { before: ['axios'], imports: ['axios-auth-refresh'] },
  '@badgateway/oauth2-client': { imports: ['@badgateway/oauth2-client'] },
  'google-auth-library': { imports: ['google-auth-library'] },
  '@azure/core-rest-pipeline': { imports: ['@azure/core-rest-pipeline'] },
  '@azure/msal-node': { imports: ['@azure/msal-node'] },
  bottleneck: { imports: ['bottleneck'] },
  'rate-limiter-flexible': { imports: ['rate-limiter-flexible'] },
}

/** What makes the first call of a process, by the file and the export of `peers/`. */
const coldCalls: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'by hand: single flight': ['by-hand.ts', 'singleFlightByHand'],
  '@tokenlane/core and @tokenlane/fetch': ['tokenlane.ts', 'tokenlane'],
  '@badgateway/oauth2-client': ['badgateway.ts', 'badgateway'],
  'google-auth-library': ['google-auth.ts', 'googleAuth'],
  '@azure/msal-node': ['msal.ts', 'msal'],
  'openid-client': ['openid-client.ts', 'openidClient'],
  'simple-oauth2': ['simple-oauth2.ts', 'simpleOauth2Peer'],
}

const folder = installBuilt()
const figures = await interleaved(Object.keys(cases), rounds, (name) => start(cases[name] as Case))
const baseline = figures.get(base) ?? []
printTable(
  `CPU time of the import and the first manager in a new process: medians of ${rounds} rounds (range of the middle half); p-queue and oauth4webapi together = 1`,
  [...figures].map(([name, each]) => {
    const made = each.flatMap(({ made: ms }) => ms ?? [])
    return {
      import: name,
      'CPU time': spreadText(spreadOf(ratios(imported(each), imported(baseline))), 2),
      'ms of CPU': spreadOf(imported(each)).median.toFixed(1),
      'ms for `createTokenManager`': made.length > 0 ? spreadOf(made).median.toFixed(2) : '',
    }
  }),
)

const server = startChild('http-service.ts', { scheme: 'https' })
const service = await tellOf<ServicePlace>(server)
const cold = await interleaved(Object.keys(coldCalls), rounds, (name) => {
  const [file = '', exported = ''] = coldCalls[name] ?? []
  const order: ColdCallOrder = { file, name: exported, service }
  return outputOf('cold-call.ts', order) as ColdCallFigures
})
server.kill()
const byHand = cold.get('by hand: single flight') ?? []
printTable(
  `The first call of a process, over TLS, from the import to the response: medians of ${rounds} rounds (range of the middle half); by hand = 1`,
  [...cold].map(([name, each]) => {
    return {
      'first call with': name,
      'CPU time': spreadText(spreadOf(ratios(cpuOf(each), cpuOf(byHand))), 2),
      'ms of CPU': spreadOf(cpuOf(each)).median.toFixed(1),
      ms: spreadOf(each.map(({ time }) => time)).median.toFixed(1),
    }
  }),
)

function start({ before = [], imports }: Case): StartUpFigures {
  return outputOf('start-up.ts', { before, imports } satisfies StartUpOrder) as StartUpFigures
}

function imported(each: readonly StartUpFigures[]): number[] {
  return each.map((figure) => figure.imported)
}

function cpuOf(each: readonly ColdCallFigures[]): number[] {
  return each.map(({ cpu }) => cpu)
}

/** By round. */
function ratios(each: readonly number[], ones: readonly number[]): number[] {
  return each.map((figure, round) => figure / (ones[round] ?? Number.NaN))
}

/** What a file of `children/` prints, run in the folder of the built packages. */
function outputOf(file: string, order: unknown): unknown {
  const args = [`${folder}/children/${file}`, JSON.stringify(order)]
  const child = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (child.status !== 0) throw new Error(`Cannot measure: ${child.stderr}`)
  return JSON.parse(child.stdout) as unknown
}
