// What Tokenlane costs over the wrapper by hand, and which of its properties costs it: each is taken out and measured.
import type { Client, Figure } from './children/caller.ts'
import type { ServicePlace } from './children/http-service.ts'
import { startCaller, type Caller } from './support/caller.ts'
import { startChild, tellOf } from './support/child.ts'
import { median } from './support/median.ts'
import { interleaved, spreadOf } from './support/rounds.ts'
import { printTable } from './support/table.ts'
import type { TakenOut } from './support/taken-out.ts'
import type { VariantName } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const only = process.argv.find((arg) => arg.startsWith('--client='))?.slice('--client='.length)
const generations = quick ? 1 : 3
const rounds = quick ? 31 : 61
const load = { calls: 100, concurrency: 50 }
const warmUp = { calls: 3_000, concurrency: 50 }

/** What every client's calls have. */
const common: Readonly<Record<string, readonly TakenOut[]>> = {
  'two clocks for the age of the token': [
    {
      file: '/core/src/time/expiry.ts',
      text: 'return Date.now() >= this.#wall || performance.now() >= this.#monotonic',
      instead: 'return false',
    },
  ],
}

/** By client: the property, as a reader of its documentation knows it, and the code that gives it. */
const properties: Readonly<Record<Client, Readonly<Record<string, readonly TakenOut[]>>>> = {
  axios: {
    ...common,
    'the caller may change configuration and headers while the call waits': [
      {
        file: '/axios/src/attempt.ts',
        text: 'const config = copyOf(given)',
        instead: 'const config = { ...given }',
      },
    ],
    'response and error show no token, nor what leads to one': [
      {
        file: '/axios/src/attempt.ts',
        text: 'scrub(response, this.config, this.#given)',
        instead: '',
      },
    ],
    'an agent shows no tokens of other calls': [
      { file: '/axios/src/managed-adapter.ts', text: 'hideAgent(config.httpAgent)', instead: '' },
      { file: '/axios/src/managed-adapter.ts', text: 'hideAgent(config.httpsAgent)', instead: '' },
    ],
    'redirects keep the token within the API only': [
      {
        file: '/axios/src/attempt.ts',
        text: 'config.beforeRedirect = this.#redirects.beforeRedirect',
        instead: '',
      },
    ],
  },
  got: {
    ...common,
    'a request on its way shows no token': [
      { file: '/got/src/call.ts', text: 'hideToken(request)', instead: '' },
      { file: '/got/src/call.ts', text: 'forgetToken(request)', instead: 'undefined' },
    ],
    "got's own options never have the token": [
      { file: '/got/src/call.ts', text: 'takeBack(headers)', instead: '' },
    ],
    'the manager closes after redirects and retries': [
      { file: '/got/src/call.ts', text: 'this.#letClose ??= api.keepOpen()', instead: '' },
    ],
  },
  ky: {
    ...common,
    'a pass is given back when another hook ends the call': [
      { file: '/ky/src/held-passes.ts', text: 'setTimeout(this.#releaseAll, 1)', instead: '' },
    ],
    "`timeout` does not count the wait (a hook of ky's)": [
      {
        file: '/ky/src/index.ts',
        text: 'beforeRequest: [...beforeRequest, wait]',
        instead: 'beforeRequest',
      },
    ],
    'redirects keep the token within the API only': [
      {
        file: '/core/src/exchange/outgoing-request.ts',
        text: "this.followsRedirects = request.redirect === 'follow'",
        instead: 'this.followsRedirects = false',
      },
    ],
    'the manager closes after redirects and retries': [
      {
        file: '/core/src/exchange/send-within-api.ts',
        text: 'const closeMayGoOn = api.keepOpen()',
        instead: 'const closeMayGoOn = () => {}',
      },
    ],
  },
  fetch: {
    ...common,
    'the caller may change `init` and headers while the call waits': [
      {
        file: '/fetch/src/call.ts',
        text: 'const { tokenlane, ...init } = given',
        instead: 'const init = given; const tokenlane = undefined',
      },
      {
        file: '/fetch/src/call.ts',
        text: 'this.#fields = copyOfFields(init.headers)',
        instead: 'this.#fields = init.headers',
      },
    ],
    'redirects keep the token within the API only': [
      {
        file: '/fetch/src/call.ts',
        text: "this.followsRedirects = (init.redirect ?? 'follow') === 'follow'",
        instead: 'this.followsRedirects = false',
      },
    ],
    'the manager closes after redirects and retries': [
      {
        file: '/core/src/exchange/send-within-api.ts',
        text: 'const closeMayGoOn = api.keepOpen()',
        instead: 'const closeMayGoOn = () => {}',
      },
    ],
  },
}

const byHand = 'wrapper by hand'
const ours = 'Tokenlane'

const server = startChild('http-service.ts', { scheme: 'http' })
const service = await tellOf<ServicePlace>(server)
for (const client of ['axios', 'got', 'ky', 'fetch'] as const) {
  if (only !== undefined && only !== client) continue
  const all: (readonly [string, number])[] = []
  for (let generation = 0; generation < generations; generation += 1) all.push(...(await measure(client)))
  printAccount(client, all)
}
server.kill()

/** Returns the microseconds of CPU of each case in its quiet rounds. */
async function measure(client: Client): Promise<(readonly [string, number])[]> {
  const cases = new Map<string, Caller>()
  const start = (variant: VariantName, without?: readonly TakenOut[]): Promise<Caller> =>
    startCaller({ client, variant, service, ...(without && { without }) })
  cases.set(byHand, await start(byHand))
  cases.set(ours, await start(ours))
  for (const [property, parts] of Object.entries(properties[client]))
    cases.set(property, await start('Tokenlane', parts))
  cases.set('all of these', await start('Tokenlane', Object.values(properties[client]).flat()))
  const callerOf = (name: string): Caller => cases.get(name) as Caller
  for (const caller of cases.values()) await caller.round(warmUp)
  const figures = await interleaved([...cases.keys()], rounds, (name) => callerOf(name).round(load))
  for (const caller of cases.values()) caller.stop()
  return Array.from(figures, ([name, each]) => [name, quietOf(each)] as const)
}

function quietOf(figures: readonly Figure[]): number {
  return spreadOf(figures.map(({ cpu }) => cpu)).low
}

function printAccount(client: Client, all: readonly (readonly [string, number])[]): void {
  const names = [...new Set(all.map(([name]) => name))]
  const middle = (name: string): number =>
    median(all.flatMap(([each, figure]) => (each === name ? [figure] : [])))
  const whole = middle(ours)
  printTable(
    `${client}: µs of CPU of a call, in the quiet ones of ${generations * rounds} rounds, without one property at a time`,
    names.map((name) => ({
      call: name === byHand || name === ours ? name : `Tokenlane without: ${name}`,
      µs: middle(name).toFixed(1),
      'of the wrapper': (middle(name) / middle(byHand)).toFixed(3),
      'the property costs': name === byHand || name === ours ? '' : (whole - middle(name)).toFixed(1),
    })),
  )
}
