import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenlaneError } from '../errors.ts'
import type { Lane, QueuedCall } from './lane.ts'
import { QueuedCalls } from './queued-calls.ts'

function anyCall(priority: number, sentBefore: boolean): QueuedCall {
  return {
    options: { priority },
    sentBefore,
    resend: undefined,
    admitted() {},
    refused: (reason) => reason,
    queuedAt: 0,
    signal: undefined,
    lane: undefined,
    rank: 0,
    countdown: undefined,
    send: undefined,
    refusal: undefined,
  }
}
/** What every call takes. */
const demand = { key: '', cost: 1, series: [''] }
const laneOf = ({ lanes: [lane] }: QueuedCalls): Lane => lane as Lane

function queueOf(gaveUp: () => void = () => {}): {
  calls: QueuedCalls
  /** Adds a call; `outcomes` gets its name when it is sent, or why it is not. */
  add: (name: unknown, options?: { priority?: number; signal?: AbortSignal; sentBefore?: boolean }) => void
  outcomes: unknown[]
} {
  const calls = new QueuedCalls(() => new TokenlaneError('QUEUE_TIMEOUT', 'too long'), gaveUp)
  const outcomes: unknown[] = []
  return {
    calls,
    outcomes,
    add(name, { priority = 0, signal, sentBefore = false } = {}) {
      calls.add(anyCall(priority, sentBefore), signal, demand, { maxWait: undefined, aging: undefined }).then(
        () => outcomes.push(name),
        (reason: unknown) => outcomes.push([name, reason]),
      )
    },
  }
}

interface Waiter {
  readonly priority: number
  readonly controller: AbortController
}

test('whatever joins and leaves, the next is the first of the highest priority', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ join: fc.integer({ min: -2, max: 2 }) }),
      fc.record({ leave: fc.nat(30) }),
      fc.constant('next' as const),
    ),
    { maxLength: 200 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const { calls, add, outcomes } = queueOf()
      let model: Waiter[] = []
      const inOrder = (): Waiter[] => model.toSorted((a, b) => b.priority - a.priority)
      for (const step of taken) {
        if (step === 'next') {
          if (model.length === 0) continue
          const next = inOrder()[0]
          if (calls.next(laneOf(calls)).signal !== next?.controller.signal) throw new Error('not the next')
          model = model.filter((waiter) => waiter !== next)
        } else if ('join' in step) {
          const waiter = { priority: step.join, controller: new AbortController() }
          add(waiter, { priority: step.join, signal: waiter.controller.signal })
          model.push(waiter)
        } else {
          model[step.leave]?.controller.abort()
          model = model.filter((_, index) => index !== step.leave)
        }
        expect(calls.size).toBe(model.length)
      }
      await setImmediate()
      outcomes.length = 0
      calls.refuseAll('closed', { stay: false })
      await setImmediate()
      expect(outcomes).toEqual(inOrder().map((waiter) => [waiter, 'closed']))
      expect(calls.size).toBe(0)
    }),
  )
})

test('a call that joins has those of the same priority ahead, and higher ones', () => {
  const { calls, add } = queueOf()
  const { signal, abort } = aborting()
  for (const [index, priority] of [2, 0, 0, -1].entries())
    add(index, index === 1 ? { priority, signal } : { priority })
  expect([3, 2, 1, 0, -1].map((priority) => calls.ahead(priority, demand))).toEqual([0, 1, 1, 3, 4])
  abort()
  expect([3, 2, 1, 0, -1].map((priority) => calls.ahead(priority, demand))).toEqual([0, 1, 1, 2, 3])
})

test('a call that was sent before stays when the others are refused, and goes first', async () => {
  const { calls, add, outcomes } = queueOf()
  add('first', { priority: 5 })
  add('again', { sentBefore: true })
  add('last')
  calls.refuseAll('closed', { stay: true })
  await setImmediate()
  expect(outcomes).toEqual([
    ['first', 'closed'],
    ['last', 'closed'],
  ])
  add('urgent', { priority: 5 })
  expect(calls.size).toBe(2)
  expect(calls.next(laneOf(calls))).toMatchObject({ sentBefore: true })
})

function aborting(): {
  signal: AbortSignal
  abort: (reason?: unknown) => void
  listeners: () => number
} {
  const controller = new AbortController()
  const { signal } = controller
  return {
    signal,
    abort: (reason) => controller.abort(reason),
    listeners: () => getEventListeners(signal, 'abort').length,
  }
}

test('calls that wait with one signal share a listener, and an abort ends each wait, in order', async () => {
  let gaveUp = 0
  const { calls, add, outcomes } = queueOf(() => (gaveUp += 1))
  const { signal, abort, listeners } = aborting()
  add('b', { signal, priority: 1 })
  for (const name of ['a', 'c', 'd']) add(name, { signal })
  calls.next(laneOf(calls))
  expect(listeners()).toBe(1)
  abort('enough')
  await setImmediate()
  expect(outcomes).toEqual([
    ['a', 'enough'],
    ['c', 'enough'],
    ['d', 'enough'],
  ])
  expect([gaveUp, calls.size, listeners()]).toEqual([3, 0, 0])
})

test('a call that another one lets go when it gives up is sent, though its signal has aborted', async () => {
  const { calls, add, outcomes } = queueOf(() => {
    if (calls.size === 0) return
    const next = calls.next(laneOf(calls))
    next.send?.(next)
  })
  const { signal, abort } = aborting()
  for (const name of ['a', 'b']) add(name, { signal })
  abort('enough')
  await setImmediate()
  expect(outcomes).toEqual(['b', ['a', 'enough']])
})

test('the last call that leaves a signal removes the listener, and the next one adds it again', async () => {
  const { calls, add, outcomes } = queueOf()
  const { signal, abort, listeners } = aborting()
  add('a', { signal })
  calls.next(laneOf(calls))
  expect(listeners()).toBe(0)
  add('b', { signal })
  expect(listeners()).toBe(1)
  abort()
  await setImmediate()
  expect(outcomes).toMatchObject([['b', { name: 'AbortError' }]])
})
