import { median } from './figures.ts'

/** What many rounds said of one figure. */
export interface Spread {
  readonly median: number
  /** Half of the rounds lie between these. */
  readonly low: number
  readonly high: number
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.ceil(sorted.length / 2)
  return { median: median(sorted), low: median(sorted.slice(0, middle)), high: median(sorted.slice(-middle)) }
}

/** `1.03 (1.02 to 1.05)` */
export function spreadText({ median: middle, low, high }: Spread, digits: number): string {
  return `${middle.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`
}

/**
 * Measures every case once a round, so that a disturbance hits them alike, and each round in another order, so that
 * none always comes after the same one.
 *
 * @returns the figures of each case, by round.
 */
export async function interleaved<T>(
  cases: readonly string[],
  rounds: number,
  measure: (name: string) => T | Promise<T>,
): Promise<Map<string, T[]>> {
  const figures = new Map<string, T[]>(cases.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const name of inTurn(cases, round)) figures.get(name)?.push(await measure(name))
  return figures
}

/** Begins with another one each round, and goes backwards every second. */
function inTurn(cases: readonly string[], round: number): string[] {
  const start = round % cases.length
  const turned = [...cases.slice(start), ...cases.slice(0, start)]
  return round % 2 === 0 ? turned : turned.toReversed()
}
