import { createRateLimiter, type LimitedApi, type RateLimiterFactory, type Word } from '../../src/fleet.ts'

/** How long a word, and the count of responses, takes from one process to the others, in milliseconds. */
const exchange = 20

/** Returns a limiter whose units, words and counts several processes share, as those with one Redis do. */
export function simulatedFleet(): RateLimiterFactory {
  const units = createRateLimiter()
  const processes = new Set<LimitedApi>()
  const words = new Map<Word['about'], number>()
  return (api) => {
    processes.add(api)
    const toOthers = (act: (other: LimitedApi) => void): void => {
      setTimeout(() => {
        for (const other of processes) if (other !== api) act(other)
      }, exchange)
    }
    return {
      forecast: units.forecast.bind(units),
      usage: units.usage.bind(units),
      take(claim, wanted) {
        const permit = units.take(claim, wanted)
        if (typeof permit === 'number') return permit
        return {
          answered(response) {
            permit.answered(response)
            toOthers((other) => other.counted(response.isRefused ? 0 : 1, response.isRefused ? 1 : 0))
          },
          ended: () => permit.ended(),
          cancel: () => permit.cancel(),
        }
      },
      tell({ about, text, for: ms }) {
        const now = performance.now()
        if (ms > 0 && now + ms < (words.get(about) ?? 0)) return
        words.set(about, now + ms)
        toOthers((other) => other.heard({ about, text, for: ms === 0 ? 0 : ms - exchange }))
      },
      async close() {
        processes.delete(api)
      },
    }
  }
}
