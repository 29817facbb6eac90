import { expect, test } from 'vitest'
import { Reachability } from './reachability.ts'

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const unknown = Number.NEGATIVE_INFINITY

test.each([
  ['a refused connection', refused, 1_200],
  ['a connection that is reset', Object.assign(new Error('read'), { code: 'ECONNRESET' }), 1_200],
  ['a node of a Cluster of ioredis', new Error('Connection is closed.'), 1_200],
  ['no socket file', Object.assign(new Error('connect'), { code: 'ENOENT' }), 1_200],
  ['what a Sentinel client wraps', new Error('Master Client: connect', { cause: refused }), 1_200],
  ['a server without memory', new Error('OOM command not allowed'), 1_200],
  ['a server that still loads', new Error('LOADING Redis is loading the dataset in memory'), 1_200],
  // others may reach it
  ['no route', Object.assign(new Error('connect'), { code: 'EHOSTUNREACH' }), unknown],
  ['a replica', new Error("READONLY You can't write against a read only replica."), unknown],
  ['a missing right', new Error("NOPERM this user has no permissions to run the 'evalsha' command"), unknown],
  ['a Cluster without a majority', new Error('CLUSTERDOWN The cluster is down'), unknown],
  ['a timeout of the socket', new Error('Socket timeout'), unknown],
  ['no error', 'ECONNREFUSED', unknown],
])('%s for more than a second', (_, error, goneFor) => {
  const reachability = new Reachability(6_000)
  reachability.failed(error, 100)
  expect(reachability.goneFor(1_000)).toBe(unknown)
  reachability.failed(error, 1_200)
  expect(reachability.goneFor(1_300)).toBe(goneFor)
})

test('a response ends an outage, and refusals further apart than `reconnectTime` are of different ones', () => {
  const reachability = new Reachability(6_000)
  reachability.failed(refused, 0)
  reachability.failed(refused, 1_500)
  expect(reachability.goneFor(1_500)).toBe(1_500)
  expect(reachability.report(1_500)).toMatchObject({ isRefused: true })
  reachability.responded({ alone: 0, isAway: false, isRefused: true })
  expect(reachability.goneFor(1_600)).toBe(unknown)
  expect(reachability.report(1_600)).toMatchObject({ isRefused: false })
  reachability.failed(refused, 2_000)
  reachability.failed(refused, 9_000)
  expect(reachability.goneFor(9_000)).toBe(unknown)
  reachability.failed(refused, 10_000)
  expect(reachability.goneFor(10_000)).toBe(1_000)
})
