import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { onStopSignals } from './child.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('a signal that npm passes on beside the terminal is no second one, and one that comes later is', () => {
  const heard: string[] = []
  const end = onStopSignals((signal, isFirst) => heard.push(`${signal} ${isFirst}`))
  const send = (signal: NodeJS.Signals): boolean => process.emit(signal, signal)
  send('SIGHUP')
  vi.advanceTimersByTime(200)
  send('SIGHUP')
  expect(heard).toEqual(['SIGHUP true'])
  send('SIGQUIT')
  vi.advanceTimersByTime(1)
  send('SIGHUP')
  expect(heard).toEqual(['SIGHUP true', 'SIGQUIT false', 'SIGHUP false'])
  end()
  expect(send('SIGHUP')).toBe(false)
})
