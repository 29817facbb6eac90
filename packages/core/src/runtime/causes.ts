import { isRecord, own } from '../options/check.ts'

const deepest = 8

/** Returns what was thrown and its causes, the innermost last; of the failures of several addresses the first. */
export function causesOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const all: Readonly<Record<string, unknown>>[] = []
  for (let inner = error; isRecord(inner) && all.length < deepest;) {
    all.push(inner)
    const { cause, errors } = inner
    inner = cause ?? own(errors, '0')
  }
  return all
}
