// Simulates years of one process' token life: `pnpm --dir tools/soak simulate-token 10`, and one of them again from its seed:
// `… simulate-token 1 123`. Prints figures after each tenth, and the seed of a year in which something went wrong.
import { addFigures, describeFigures } from './figures.ts'
import { simulateYear } from './client-year.ts'

const [years = '10', seed = String(Math.floor(Math.random() * 2 ** 31))] = process.argv.slice(2)
const started = performance.now()
const total = { years: 0 }
for (let year = 0; year < Number(years); year += 1) {
  const current = Number(seed) + 2 * year
  try {
    addFigures(total, await simulateYear(current))
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
  total.years += 1
  if (total.years % Math.ceil(Number(years) / 10) === 0)
    console.log(
      `${describeFigures(total)}; ${((performance.now() - started) / 1_000).toFixed(0)} s, from seed ${seed}`,
    )
}
