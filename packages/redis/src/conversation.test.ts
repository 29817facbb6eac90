import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Conversation } from './conversation.ts'
import { processRuntime } from './runtime.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function talk(timeout: number) {
  const said: { answer: (text: string) => void; refuse: (error: Error) => void }[] = []
  const heard: string[] = []
  const conversation = new Conversation<string, string>(
    () => new Promise((resolve, reject) => said.push({ answer: resolve, refuse: reject })),
    processRuntime,
    timeout,
    {
      heard: (answer) => heard.push(answer),
      silent: (reason) => heard.push((reason as Error).message),
      free() {},
    },
  )
  return { conversation, said, heard }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

test('an answer 1 ms before the time is over counts, and none shortly after it is silence', async () => {
  const { conversation, said, heard } = talk(500)
  conversation.say('one')
  await pass(499)
  said[0]?.answer('here')
  await pass(1_000)
  expect(heard).toEqual(['here'])
  conversation.say('two')
  await pass(1_300)
  // what answered after 499 ms may take longer than 500 ms
  expect(heard).toEqual(['here', expect.stringMatching(/^no answer in \d+ ms$/)])
})

test('a late answer is an answer, and a Redis that is far away may take longer from then on', async () => {
  const { conversation, said, heard } = talk(500)
  conversation.say('one')
  await pass(800)
  expect(heard).toEqual(['no answer in 500 ms'])
  said[0]?.answer('late')
  await pass(0)
  expect(conversation.isFree).toBe(true)
  conversation.say('two')
  await pass(1_900)
  expect(heard).toEqual(['no answer in 500 ms', 'late'])
})

test('an answer that never comes is given up after 4 s, and what comes later is not heard', async () => {
  const { conversation, said, heard } = talk(500)
  conversation.say('one')
  await pass(3_999)
  expect(conversation.isFree).toBe(false)
  await pass(1)
  expect(conversation.isFree).toBe(true)
  said[0]?.answer('much too late')
  await pass(0)
  expect(heard).toEqual(['no answer in 500 ms'])
})

test('a Redis that refuses for less than the time is asked again, and nothing is said of it', async () => {
  const { conversation, said, heard } = talk(500)
  conversation.say('one')
  said[0]?.refuse(new Error('TRYAGAIN'))
  await pass(130)
  expect(conversation.isFree).toBe(true)
  conversation.say('two')
  said[1]?.answer('here')
  await pass(1_000)
  expect(heard).toEqual(['here'])
})

test.each([2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])('%d ms are not a short time', async (ms) => {
  const { conversation, heard } = talk(ms)
  conversation.say('one')
  await pass(60_000)
  expect(heard).toEqual([])
})
