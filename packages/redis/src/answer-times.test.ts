import { expect, test } from 'vitest'
import { AnswerTimes } from './answer-times.ts'

function timesOf(...times: number[]): AnswerTimes {
  const answerTimes = new AnswerTimes()
  for (const time of times) answerTimes.add(time)
  return answerTimes
}

test('steady answers are promised a little later than usual, and one that was slow does not count', () => {
  expect(timesOf(20, 20, 20, 20, 20, 300).promise(1_000)).toBeCloseTo(23)
})

test('nothing is promised before the first answer, where answers differ much, or where they take long', () => {
  expect(timesOf().promise(1_000)).toBeUndefined()
  expect(timesOf(10, 10, 200, 200).promise(1_000)).toBeUndefined()
  expect(timesOf(10, 10, 200, 200).promise(60_000)).toBeDefined()
  expect(timesOf(500).promise(1_000)).toBeUndefined()
  expect(timesOf(1_500).promise(60_000)).toBeUndefined()
})

test('only the last 20 answers count', () => {
  const times = timesOf(...Array.from({ length: 30 }, () => 400), ...Array.from({ length: 20 }, () => 20))
  expect(times.mean).toBe(20)
})
