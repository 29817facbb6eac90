import * as v from 'valibot'
import { setTimeout } from 'node:timers/promises'

import { durationForm } from '../in-words.ts'
import { either, longestTime, object, time, type Allowed } from '../allowed.ts'

/** Returns a random number from 0 to below 1. */
export type Random = () => number

/** Returns a source of random numbers (mulberry32). The same seed gives the same numbers, so that a run can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Bounds of a random time, in milliseconds; every time between them is equally likely. */
export interface DelayRange {
  min: number
  max: number
}

/** A log-normal distribution, typical of response times, given by two percentiles in milliseconds. */
export interface Percentiles {
  /** Half of the times are shorter. At least 1. */
  median: number
  /** One time in a hundred is longer. At least `median`. */
  p99: number
}

/** How long something takes, in milliseconds: always the same, between two bounds, or by percentiles. */
export type Latency = number | DelayRange | Percentiles

/** Checks that the second value of an object is at least the first. The message names the second. */
function atLeast<First extends string, Second extends string>(first: First, second: Second) {
  type Pair = Record<First | Second, number>
  return v.rawCheck<Pair>(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { [first]: least, [second]: given } = dataset.value
    if (given >= least) return
    addIssue({
      message: `a number from ${least} to ${longestTime}`,
      path: [{ type: 'object', origin: 'value', input: dataset.value, key: second, value: given }],
    })
  })
}

export const delayRange: Allowed<DelayRange> = v.pipe(
  object<DelayRange>({ min: time(), max: time() }),
  atLeast('min', 'max'),
)

const percentiles: Allowed<Percentiles> = v.pipe(
  object<Percentiles>({ median: time(), p99: time() }),
  v.check(({ median }) => median >= 1, 'an object whose median is at least 1'),
  atLeast('median', 'p99'),
)

export const latency: Allowed<Latency> = either<[number, DelayRange, Percentiles]>(
  [time(), delayRange, percentiles],
  `a number from 0 to ${longestTime}, ${durationForm}, { min, max } or { median, p99 }`,
)

/** How many standard deviations the 99th percentile is above the median. */
const p99Deviations = 2.326_347_874

export function sample(of: Latency, random: Random): number {
  if (typeof of === 'number') return of
  if ('min' in of) return of.min + random() * (of.max - of.min)
  const sigma = Math.log(of.p99 / of.median) / p99Deviations
  // Box-Muller; 1 - random() is never 0
  const deviations = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.min(of.median * Math.exp(sigma * deviations), longestTime)
}

/** Waits for `ms` milliseconds without keeping the process alive. Open servers keep it alive. */
export const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { ref: false })
