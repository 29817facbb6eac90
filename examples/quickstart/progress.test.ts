import { PassThrough } from 'node:stream'

import { expect, onTestFinished, test, vi } from 'vitest'

import { showProgress } from './progress.ts'

test('without a terminal, a state that has not changed is not logged again', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const stream = new PassThrough({ encoding: 'utf8' })
  const states = ['1 of 2', '2 of 2', '2 of 2', '2 of 2']
  const progress = showProgress(stream as unknown as NodeJS.WriteStream, () => `${states.shift()}`)
  vi.advanceTimersByTime(4_000)
  progress.end()
  expect(stream.read()).toBe(' 1.0 s  1 of 2\n 2.0 s  2 of 2\n')
})
