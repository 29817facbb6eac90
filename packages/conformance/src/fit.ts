import type { Driver } from './driver.ts'
import type { Scenario } from './scenario.ts'

/** Returns what a client is held to in a scenario: the scenario itself, or what happens instead. */
export function fit(
  scenario: Scenario,
  { limits }: Pick<Driver<unknown>, 'limits'>,
): Pick<Scenario, 'run'> & { limit?: string } {
  const needs = [scenario.needs ?? []].flat()
  const lacking = needs.find(({ feature }) => limits?.[feature] !== undefined)
  const limit = lacking && limits?.[lacking.feature]
  if (limit === undefined) return { run: (stage) => scenario.run(stage) }
  return { run: (stage) => lacking!.instead(stage), limit: `${limit.reason} ${limit.instead}` }
}
