import { printable } from '../foreign-text.ts'
import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'

/** Returns what all of these return, or throws one error that says everything that is wrong with what they read. */
export function allOf<T>(reads: Iterable<() => T>): T[] {
  const results: T[] = []
  const faults: TokenlaneError[] = []
  for (const read of reads)
    try {
      results.push(read())
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      faults.push(...(error.failures ?? [error]))
    }
  const [first] = faults
  if (first === undefined) return results
  if (faults.length === 1) throw first
  const lines = faults.map((fault) => `\n- ${reasonOf(fault)}`)
  const code = faults.every((fault) => fault.code === first.code) ? first.code : 'INVALID_OPTIONS'
  throw new TokenlaneError(code, `${faults.length} options are invalid:${lines.join('')}`, {
    failures: faults,
  })
}

/** Reads options to do something. Errors about them name what could not be done. */
export function refusingTo<T>(action: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (isTokenlaneError(error)) throw naming(action, error)
    throw error
  }
}

function naming(action: string, error: TokenlaneError): TokenlaneError {
  const reason = reasonOf(error)
  if (reason.startsWith('Cannot ')) return error
  const failures = error.failures?.map((failure) => naming(action, failure))
  return new TokenlaneError(error.code, `Cannot ${printable(action)}: ${reason}`, { failures })
}
