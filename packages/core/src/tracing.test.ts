import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { expect, test, vi } from 'vitest'
import { Tracing } from './tracing.ts'

interface Message {
  readonly name: string
  error?: unknown
}

const stages = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

function subscribed(name: string): { heard: [string, unknown][]; end: () => void } {
  const heard: [string, unknown][] = []
  const channel = tracingChannel(name)
  const subscribers = Object.fromEntries(
    stages.map((stage) => [stage, (message: unknown) => void heard.push([stage, message])]),
  ) as Record<(typeof stages)[number], (message: unknown) => void>
  channel.subscribe(subscribers)
  return { heard, end: () => channel.unsubscribe(subscribers) }
}

test('start and end stand around the synchronous part, asyncStart and asyncEnd at the outcome', () => {
  const tracing = new Tracing<Message>('tokenlane:test.order')
  const { heard, end } = subscribed('tokenlane:test.order')
  const message = { name: 'one' }
  expect(tracing.begin(message, () => heard.length)).toBe(1)
  tracing.finish(message)
  expect(heard).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'].map((stage) => [stage, message]))
  end()
})

test('a failure is published before asyncStart, as Node does', () => {
  const tracing = new Tracing<Message>('tokenlane:test.error')
  const { heard, end } = subscribed('tokenlane:test.error')
  const message: Message = { name: 'one' }
  tracing.begin(message, () => {})
  message.error = new Error('failed')
  tracing.finish(message)
  expect(heard.map(([stage]) => stage)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
  end()
})

test('work runs in the stores that are bound to start', () => {
  const tracing = new Tracing<Message>('tokenlane:test.stores')
  const store = new AsyncLocalStorage<string>()
  const { start } = tracingChannel('tokenlane:test.stores')
  start.bindStore(store, (message) => (message as Message).name)
  expect(tracing.begin({ name: 'bound' }, () => store.getStore())).toBe('bound')
  expect(store.getStore()).toBeUndefined()
  start.unbindStore(store)
})

test('it is observed from the first subscriber to the last', () => {
  const tracing = new Tracing<Message>('tokenlane:test.observed')
  expect(tracing.isObserved).toBe(false)
  const { end } = subscribed('tokenlane:test.observed')
  expect(tracing.isObserved).toBe(true)
  end()
  expect(tracing.isObserved).toBe(false)
})

test('a runtime without diagnostics channels is never observed, and work runs all the same', () => {
  vi.stubGlobal('process', {})
  const tracing = new Tracing<Message>('tokenlane:test.none')
  vi.unstubAllGlobals()
  expect(tracing.isObserved).toBe(false)
  expect(tracing.begin({ name: 'one' }, () => 7)).toBe(7)
  tracing.finish({ name: 'one' })
})
