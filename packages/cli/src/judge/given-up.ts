import type { Finding, JournalEntry } from '@tokenlane/sandbox'

import { callers } from './program.ts'

const mostEvidence = 10

/**
 * Returns a finding for calls that the program gave up before they reached an API: numbers that are missing between those
 * that arrived. As many as the program has callers may still be waiting at the end, and are not counted.
 */
export function givenUpCalls(journal: readonly JournalEntry[]): Finding[] {
  let count = 0
  const evidence: number[] = []
  for (const api of ['general-api', 'weblink-api']) {
    const arrived = new Map<number, number>()
    for (const { id, target, path } of journal) {
      const number = target === api ? numberIn(path) : undefined
      if (number !== undefined) arrived.set(number, id)
    }
    const numbers = [...arrived.keys()].toSorted((one, other) => one - other)
    const [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? -1]
    // a program that calls at random, or numbers in another way, says nothing about what is missing
    if (first > 2 * callers) continue
    const missing = last - numbers.length
    if (missing <= callers) continue
    count += missing - callers
    for (const [index, number] of numbers.entries())
      if (number - (numbers[index - 1] ?? 0) > 1) evidence.push(arrived.get(number) ?? 0)
  }
  if (count === 0) return []
  return [
    {
      rule: 'given-up',
      severity: 'error',
      message: `At least ${count.toLocaleString('en-US')} ${count === 1 ? 'call' : 'calls'} never arrived at the API: the program gave up first`,
      fix: 'Let a call that needs a token wait for one, and retry the token request after a while, for as long as its caller can wait.',
      evidence: evidence.slice(0, mostEvidence),
      count,
    },
  ]
}

/** Returns the number at the end of a path such as `/records/INV-0000017`. */
function numberIn(path: string | null): number | undefined {
  const [, digits] = /\/INV-(\d{7,12})$/.exec(path ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}
