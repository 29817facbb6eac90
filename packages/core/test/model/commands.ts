import fc from 'fast-check'
import type { CallPlan } from './call.ts'
import type { Manner } from './scripted-api.ts'
import type { Answer, Lifetime, ScriptedIssuer } from './scripted-issuer.ts'
import type { Settings, World } from './world.ts'

/** One step of a sequence; printed as it reads. */
interface Command {
  run(world: World): void | Promise<void>
  toString(): string
  /** What fast-check prints. */
  [fc.toStringMethod](): string
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

function command(text: string, run: Command['run']): Command {
  return { run, toString: () => text, [fc.toStringMethod]: () => text }
}

/** Spans of every order of magnitude, and those where something happens. */
const span = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: 0, max: Math.min(most, 2 * second) }),
    fc.integer({ min: 0, max: Math.min(most, 2 * minute) }),
    fc.integer({ min: 0, max: most }),
    fc.constantFrom(
      ...[1, 50, 125, 250, 500, 949, 950, 1_000, 5_000, 15_000, 30_000].filter((ms) => ms <= most),
    ),
  )

const plan: fc.Arbitrary<CallPlan> = fc.record(
  {
    api: fc.nat(2),
    door: fc.constantFrom('send', 'admit', 'token'),
    replayable: fc.boolean(),
    abort: fc.oneof(
      fc.constant('before' as const),
      fc.record({ after: fc.nat(3 * second) }),
      fc.record({ microtasks: fc.nat(30) }),
    ),
  },
  { requiredKeys: ['api'] },
)

const plain: fc.Arbitrary<CallPlan> = fc.nat(2).map((api) => ({ api }))
const issuer = fc.constantFrom(0 as const, 1 as const)

const lifetime: fc.Arbitrary<Lifetime> = fc.oneof(
  fc.integer({ min: 1, max: 3_600 }).map((seconds) => ({ expiresIn: seconds, ms: seconds * second })),
  fc.constantFrom<Lifetime>(
    { expiresIn: 1, ms: second },
    { expiresIn: 60, ms: minute },
    { expiresIn: 3_600, ms: hour },
    { expiresIn: undefined, ms: hour },
    { expiresIn: '3600', ms: hour },
    { expiresIn: 0.5, ms: second / 2 },
    { expiresIn: 1e12, ms: 365 * 24 * hour },
    { expiresIn: 0, ms: undefined },
    { expiresIn: -5, ms: undefined },
    { expiresIn: null, ms: 3_600_000 },
    { expiresIn: 'soon', ms: undefined },
  ),
)

const calls: fc.Arbitrary<Command>[] = [
  plain.map((one) => command(`call ${one.api}`, async (world) => start(world, one))),
  plan.map((one) => command(`call ${JSON.stringify(one)}`, async (world) => start(world, one))),
  fc.tuple(fc.integer({ min: 2, max: 12 }), plan).map(([count, one]) =>
    command(`${count} calls ${JSON.stringify(one)}`, async (world) => {
      for (let number = 0; number < count; number += 1) world.call(one)
      await world.clock.settle()
    }),
  ),
  fc.constant(command('warm up', (world) => world.warmUp())),
]

const time: fc.Arbitrary<Command>[] = [
  span(4 * hour).map((ms) => command(`pass ${ms} ms`, (world) => world.clock.pass(ms))),
  span(2 * minute).map((ms) => command(`pass ${ms} ms`, (world) => world.clock.pass(ms))),
  fc
    .tuple(issuer, fc.constantFrom(-1, 0, 1, 40, 100, 3 * second, 10 * second, 30 * second, 5 * minute))
    .map(([which, ms]) =>
      command(`pass until ${ms} ms before the end of the token of issuer ${which}`, (world) =>
        world.clock.pass(Math.max(0, world.issuers[which].model.left - ms)),
      ),
    ),
]

const clocks: fc.Arbitrary<Command>[] = [
  span(4 * hour).map((ms) => command(`set the clock forward by ${ms} ms`, (world) => setWall(world, ms))),
  span(4 * hour).map((ms) => command(`set the clock back by ${ms} ms`, (world) => setWall(world, -ms))),
  span(4 * hour).map((ms) =>
    command(`sleep for ${ms} ms`, (world) => leap(world, () => world.clock.sleep(ms))),
  ),
  span(4 * hour).map((ms) =>
    command(`freeze for ${ms} ms`, (world) => leap(world, () => world.clock.freeze(ms))),
  ),
]

const recovery: fc.Arbitrary<Command> = issuer.map((which) =>
  command(`issuer ${which} recovers`, (world) => change(world, which, (it) => it.recover())),
)

const issuers: fc.Arbitrary<Command>[] = [
  fc
    .tuple(
      issuer,
      fc.constantFrom<Answer>(
        'unavailable',
        'forbidden as HTML',
        'no token',
        'invalid scope',
        'network error',
        'silence',
      ),
      fc.constantFrom(1, 2, 5, Number.POSITIVE_INFINITY),
      fc.option(fc.constantFrom(0, 1, 7, 100, 4_000), { nil: undefined }),
    )
    .map(([which, answer, times, retryAfter]) =>
      command(`issuer ${which} answers ${times} times: ${answer}, Retry-After ${retryAfter}`, (world) =>
        change(world, which, (it) => Object.assign(it, { answer, times, retryAfter })),
      ),
    ),
  fc
    .tuple(issuer, lifetime)
    .map(([which, it]) =>
      command(`issuer ${which} expires_in ${JSON.stringify(it.expiresIn)}`, (world) =>
        change(world, which, (changed) => Object.assign(changed, { lifetime: it })),
      ),
    ),
  fc
    .tuple(issuer, fc.constantFrom(0, 1, 40, 300, 990, 1_100, 6_000), fc.boolean())
    .map(([which, delay, deaf]) =>
      command(`issuer ${which} takes ${delay} ms${deaf ? ' and never gives up' : ''}`, (world) =>
        change(world, which, (it) => Object.assign(it, { delay, deaf })),
      ),
    ),
  fc
    .tuple(issuer, fc.boolean(), fc.boolean())
    .map(([which, overlap, told]) =>
      command(
        `issuer ${which} rotates its secret ${overlap ? 'with' : 'without'} overlap, ${told ? 'told' : 'untold'}`,
        (world) => change(world, which, (it) => it.rotate(overlap, told && which === 1)),
      ),
    ),
  fc
    .constantFrom('open', 'sealed', 'silent')
    .map((vault) =>
      command(`the provider is ${vault}`, (world) => change(world, 1, (it) => Object.assign(it, { vault }))),
    ),
]

const apis: fc.Arbitrary<Command>[] = [
  issuer.map((which) =>
    command(`issuer ${which} revokes its tokens`, (world) => {
      const revoking = world.issuers[which]
      revoking.revoke()
      world.disturb((api) => api.issuer === revoking)
    }),
  ),
  fc
    .tuple(
      fc.nat(2),
      fc.constantFrom<Manner>('right', 'refuses every token', 'forbids', 'fails', 'drops connections'),
      fc.constantFrom(0, 1, 100, 600, 1_000),
    )
    .map(([which, manner, delay]) =>
      command(`API ${which}: ${manner}, after ${delay} ms`, (world) => {
        world.disturb((api) => api === world.apis[which])
        Object.assign(world.apis[which] ?? {}, { manner, delay })
      }),
    ),
]

const closing = fc.constant(command('close', (world) => world.close()))

/** Most of what happens is calls and time; the longer the sequence, the more of everything. */
export const commands: fc.Arbitrary<Command[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.oneof(...calls) },
        { weight: 5, arbitrary: fc.oneof(...time) },
        { weight: 2, arbitrary: fc.oneof(...clocks) },
        { weight: 4, arbitrary: fc.oneof(...issuers) },
        { weight: 2, arbitrary: recovery },
        { weight: 2, arbitrary: fc.oneof(...apis) },
      ),
      { maxLength: 40, size: 'max' },
    ),
    fc.option(
      fc
        .tuple(fc.oneof(...calls), closing, fc.array(fc.oneof(...calls, ...time), { maxLength: 4 }))
        .map(([last, close, after]) => [last, close].concat(after)),
      { nil: [], freq: 2 },
    ),
  )
  .map(([before, end]) => before.concat(end))

export const settings: fc.Arbitrary<Settings> = fc.record({
  seed: fc.nat(),
  renewBefore: fc.constantFrom(undefined, 0, minute, 10 * minute),
  requestTimeout: fc.constantFrom(second, 5 * second),
  maxWait: fc.constantFrom(2 * second, 15 * second),
  secrets: fc.constantFrom(1, 2),
})

async function start(world: World, one: CallPlan): Promise<void> {
  world.call(one)
  await world.clock.settle()
}

/** Troubles those who wait before and after: the change may be for the worse or for the better. */
function change(world: World, which: 0 | 1, act: (it: ScriptedIssuer) => void): void {
  const changed = world.issuers[which]
  const wasHealthy = changed.healthy
  act(changed)
  if (!wasHealthy || !changed.healthy) world.trouble(changed)
}

function setWall(world: World, by: number): void {
  for (const { model } of world.issuers) model.note()
  world.clock.setWall(by)
  if (by < 0) world.disturb(() => world.clock.blind)
}

/** Time that leaps is trouble: what was under way may have come too late. */
async function leap(world: World, act: () => void | Promise<void>): Promise<void> {
  for (const { model } of world.issuers) model.note()
  for (const leaping of world.issuers) world.trouble(leaping)
  await act()
  world.disturb(() => true)
}
