// What a shared rate budget costs and gives, measured: `node packages/redis/test/show-rate.ts [processes] [quota] [window] [seconds] [depth]`,
// with `SPREAD=1`, `ANSWER=5,15` and `ROUND_TRIP=30` (to Redis), in milliseconds; `… fleets` for the table of bench/fleet.md.
import { loadavg } from 'node:os'
import { measureRate } from './support/measure-rate.ts'

const { SPREAD, ANSWER = '20,20', ROUND_TRIP = '0' } = process.env

if (process.argv[2] === 'fleets') await showFleets()
else {
  const [size = 8, quota = 25, window = 1_000, seconds = 15, depth = 3] = process.argv.slice(2).map(Number)
  const [least = 20, longest = least] = ANSWER.split(',').map(Number)
  const measured = await measureRate({
    size,
    quota,
    window,
    seconds,
    depth,
    spread: SPREAD === '1',
    apiTime: [least, longest],
    roundTrip: Number(ROUND_TRIP),
  })
  console.log(JSON.stringify({ size, quota, window, ...measured, load: loadavg()[0] }))
}

/** Every manager always has calls that wait. */
async function showFleets(): Promise<void> {
  console.log(
    '| processes | quota | answers | Redis is away | share of the quota | over | Jain | requests per call | CPU of Redis | CPU of the processes | load |',
  )
  console.log(`|${' --- |'.repeat(11)}`)
  for (const [size, quota, seconds, apiTime, roundTrip] of [
    [5, 200, 15, [5, 15], 0],
    [8, 25, 15, [5, 15], 0],
    [8, 25, 15, [300, 300], 0],
    [50, 25, 15, [5, 15], 0],
    [50, 25, 15, [300, 300], 0],
    [50, 25, 15, [300, 300], 30],
    [200, 25, 20, [5, 15], 0],
    [200, 25, 20, [300, 300], 0],
    [1_000, 25, 40, [5, 15], 0],
  ] as const) {
    const depth = Math.max(3, Math.ceil((2 * quota) / size))
    const measured = await measureRate({ size, quota, window: 1_000, seconds, depth, apiTime, roundTrip })
    const { share, over, jain, perCall, redisPer1000Calls, ownPer1000Calls } = measured
    const answers = apiTime[0] === apiTime[1] ? `${apiTime[0]} ms` : `${apiTime.join(' to ')} ms`
    const row = [size, `${quota} a second`, answers, `${roundTrip} ms`, share, over, jain, perCall]
    const costs = [`${redisPer1000Calls} ms`, `${ownPer1000Calls} ms`, loadavg()[0]?.toFixed(0)]
    console.log(`| ${[...row, ...costs].join(' | ')} |`)
  }
}
