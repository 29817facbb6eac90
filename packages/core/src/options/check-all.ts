import { Faults } from './faults.ts'

/**
 * Makes every check and returns what each returned, by name.
 *
 * @throws TokenlaneError everything that the checks refused, in one error.
 */
export function checkAll<T extends Readonly<Record<string, () => unknown>>>(
  checks: T,
): { [K in keyof T]: ReturnType<T[K]> } {
  const faults = new Faults()
  const results = Object.entries(checks).map(([name, check]) => [name, faults.collect(check)] as const)
  faults.raise()
  return Object.fromEntries(results) as { [K in keyof T]: ReturnType<T[K]> }
}
