// What a shared rate budget costs and gives, measured: `node packages/redis/test/show-rate.ts [processes] [quota] [window] [seconds] [depth]`, or
// `… rate table` for the table of Redis' CPU by number of processes in the README.
import { loadavg } from 'node:os'
import { measureRate } from './support/measure-rate.ts'

if (process.argv[2] === 'table') await showTable()
else {
  const [size = 8, quota = 25, window = 1_000, seconds = 15, depth = 3] = process.argv.slice(2).map(Number)
  const spread = process.env['SPREAD'] === '1'
  const measured = await measureRate({ size, quota, window, seconds, depth, spread })
  console.log(JSON.stringify({ size, quota, window, ...measured, load: loadavg()[0] }))
}

async function showTable(): Promise<void> {
  console.log(`Load of the machine before: ${loadavg()[0]?.toFixed(1)}`)
  console.log('| processes | limit | calls a second | scripts per call | CPU per 1,000 calls | of a core |')
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (const [size, quota, seconds] of [
    [1, 25, 20],
    [8, 25, 20],
    [50, 25, 20],
    [200, 25, 30],
    [1_000, 25, 60],
    [8, 500, 15],
    [50, 500, 15],
  ] as const) {
    const measured = await measureRate({ size, quota, window: 1_000, seconds, depth: quota > 25 ? 60 : 3 })
    const { calls, perCall, redisPer1000Calls, redisCpu } = measured
    const row = [size, `${quota} in 1 s`, Math.round(calls / seconds), perCall]
    console.log(`| ${[...row, `${redisPer1000Calls} ms`, `${redisCpu} %`].join(' | ')} |`)
  }
}
