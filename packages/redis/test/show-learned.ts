// What `accounting: 'learned'` gives a fleet, beside one process without Redis: `node packages/redis/test/show-learned.ts` for
// the table of bench/fleet.md, in simulated time, so that it is the same on every machine.
import { startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { answerTimes, wholeQuota } from './simulation/whole-quota.ts'

const networks = [
  [5, 15],
  [0, 200],
] as const
await using server = await startRedis()
const redis = await createClient({ url: server.url }).connect()
console.log('| answers | network, each way | one process | 8 processes | 50 processes |')
console.log(`|${' --- |'.repeat(5)}`)
for (const network of networks)
  for (const [kind, answerTime] of Object.entries(answerTimes)) {
    const cells: string[] = []
    for (const size of [1, 8, 50]) {
      const { share, refused } = await wholeQuota({ redis, size, network, answerTime, isAlone: size === 1 })
      cells.push(`${share.toFixed(3)}, ${refused.toFixed(2)}`)
    }
    console.log(`| ${[kind, `${network.join(' to ')} ms`, ...cells].join(' | ')} |`)
  }
redis.destroy()
