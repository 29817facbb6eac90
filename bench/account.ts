// What Tokenlane costs over the wrapper by hand, and which of its properties costs it: one after the other is taken out
// until the wrapper is left, so that the figures add up to the whole difference.
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
/** Each begins with new processes: two of the same case may differ by 1 %, for as long as they live. */
const generations = quick ? 1 : 5
const rounds = quick ? 31 : 61
const load = { calls: 100, concurrency: 50 }
// V8 compiles 70 to 100 functions once more after about 11,000 calls
const warmUp = { calls: quick ? 4_000 : 14_000, concurrency: 50 }

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

/** By client, in the order in which it is taken out: the property, as a reader of the guide knows it, and its code. */
const properties: Readonly<Record<Client, Readonly<Record<string, readonly TakenOut[]>>>> = {
  axios: {
    ...common,
    'response and error show no token, nor what leads to one': [
      {
        file: '/axios/src/attempt.ts',
        text: 'scrub(response, this.config, this.#given)',
        instead: '',
      },
    ],
    'no printer gets from them to other requests under way': [
      {
        file: '/axios/src/attempt.ts',
        text: "withHiddenRequest(response, this.#given, { ofNodeAdapter: this.#via === 'http' })",
        instead: 'response',
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
    "the caller's own `Authorization` or `auth` wins": [
      {
        file: '/axios/src/managed-adapter.ts',
        text: "return Boolean(auth) || headers.has('Authorization')",
        instead: 'return false',
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

/** What is left when all of these are taken out, and the wrapper does not have. */
const rest = 'the API of the URL found, TLS 1.2 kept to, sent again after a 401, waited for by `close()`'

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

/** Returns the microseconds of CPU of each case in its quiet rounds: Tokenlane, with ever less of it, and the wrapper. */
async function measure(client: Client): Promise<(readonly [string, number])[]> {
  const cases = new Map<string, Caller>()
  const start = (variant: VariantName, without?: readonly TakenOut[]): Promise<Caller> =>
    startCaller({ client, variant, service, ...(without && { without }) })
  cases.set(ours, await start(ours))
  const without: TakenOut[] = []
  for (const [property, parts] of Object.entries(properties[client])) {
    without.push(...parts)
    cases.set(property, await start(ours, without))
  }
  cases.set(byHand, await start(byHand))
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
  const figures = names.map((name) =>
    median(all.flatMap(([each, figure]) => (each === name ? [figure] : []))),
  )
  const [whole = Number.NaN, wrapper = Number.NaN] = [figures[0], figures.at(-1)]
  const row = (what: string, costs: number): Record<string, string> => ({
    what,
    µs: costs.toFixed(1),
    'of the wrapper': (costs / wrapper).toFixed(3),
  })
  printTable(
    `${client}: what a call with Tokenlane takes over the wrapper by hand, in µs of CPU, by property; quiet ones of ${generations * rounds} rounds`,
    [
      row(byHand, wrapper),
      ...names.slice(1).map((name, index) => {
        const costs = (figures[index] ?? Number.NaN) - (figures[index + 1] ?? Number.NaN)
        return row(name === byHand ? rest : name, costs)
      }),
      row(ours, whole),
    ],
  )
}
