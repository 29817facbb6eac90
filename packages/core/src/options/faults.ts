import { printable } from '../foreign-text.ts'
import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'

/** What messages about one wrong option begin with. */
const preface = /^Cannot [a-z ]+: /

/** Returns what `read` returns for these arguments; `undefined` if it finds fault, which is thrown with all others. */
export type Collect = <T, Args extends readonly unknown[]>(
  read: (...args: Args) => T,
  ...args: Args
) => T | undefined

/** Returns what `work` returns, or throws one error that says everything that is wrong with the options it has read. */
export function withAllFaults<T>(work: (collect: Collect) => T): T {
  const errors: TokenlaneError[] = []
  const result = work((read, ...args) => {
    try {
      return read(...args)
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      errors.push(...(error.failures ?? [error]))
      return undefined
    }
  })
  const [first] = errors
  if (first === undefined) return result
  if (errors.length === 1) throw first
  const [start = ''] = preface.exec(first.message) ?? []
  const lines = errors.map((error) => `\n- ${reasonOf(error).replace(preface, '')}`)
  const code = errors.every((error) => error.code === first.code) ? first.code : 'INVALID_OPTIONS'
  const message = `${start}${lines.length} options are invalid:${lines.join('')}`
  throw new TokenlaneError(code, message, { failures: errors })
}

/** Checks options as at start, with an error that says what else could not be done. */
export function refusingTo<T>(action: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (!isTokenlaneError(error) || error.code !== 'INVALID_OPTIONS') throw error
    const reason = reasonOf(error).replace(/^Cannot create token manager/, `Cannot ${printable(action)}`)
    throw new TokenlaneError('INVALID_OPTIONS', reason, { failures: error.failures })
  }
}
