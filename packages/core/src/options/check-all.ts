import { isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'

const prefix = 'Cannot create token manager: '

/**
 * Makes every check and returns what each returned, by name.
 *
 * @throws TokenlaneError everything that the checks refused, in one message.
 */
export function checkAll<T extends Readonly<Record<string, () => unknown>>>(
  checks: T,
): { [K in keyof T]: ReturnType<T[K]> } {
  const refused: TokenlaneError[] = []
  const results: [string, unknown][] = []
  for (const [name, check] of Object.entries(checks))
    try {
      results.push([name, check()])
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      refused.push(error)
    }
  const [first, ...others] = refused
  if (first === undefined) return Object.fromEntries(results) as { [K in keyof T]: ReturnType<T[K]> }
  if (others.length === 0) throw first
  const code = refused.every((error) => error.code === first.code) ? first.code : 'INVALID_OPTIONS'
  const reasons = refused.map((error) => reasonOf(error).replace(prefix, ''))
  throw new TokenlaneError(code, prefix + reasons.join('; '))
}
