import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { SharedAbort } from './shared-abort.ts'

function watched(): {
  aborts: SharedAbort<string>
  gaveUp: [string, unknown][]
  listeners: () => number
} & Pick<AbortController, 'signal' | 'abort'> {
  const gaveUp: [string, unknown][] = []
  const controller = new AbortController()
  const { signal } = controller
  const aborts = new SharedAbort<string>((waiter, reason) => {
    aborts.forget(signal, waiter)
    gaveUp.push([waiter, reason])
  })
  return {
    aborts,
    gaveUp,
    signal,
    abort: (reason) => controller.abort(reason),
    listeners: () => getEventListeners(signal, 'abort').length,
  }
}

test('calls that wait with one signal share a listener, and an abort ends each wait, in order', () => {
  const { aborts, gaveUp, signal, abort, listeners } = watched()
  for (const waiter of ['a', 'b', 'c']) aborts.watch(signal, waiter)
  aborts.forget(signal, 'b')
  expect(listeners()).toBe(1)
  abort('enough')
  expect(gaveUp).toEqual([
    ['a', 'enough'],
    ['c', 'enough'],
  ])
  expect(listeners()).toBe(0)
})

test('the last call that leaves a signal removes the listener, and the next one adds it again', () => {
  const { aborts, gaveUp, signal, abort, listeners } = watched()
  aborts.watch(signal, 'a')
  aborts.forget(signal, 'a')
  aborts.forget(signal, 'a')
  expect(listeners()).toBe(0)
  aborts.watch(signal, 'b')
  expect(listeners()).toBe(1)
  abort()
  expect(gaveUp).toMatchObject([['b', { name: 'AbortError' }]])
})
