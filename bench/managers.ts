// What many managers cost in one process, and what finding the API of a URL costs among many.
import type { ManagersFigures, ManagersOrder, RoutesFigures } from './children/managers.ts'
import { startChild, tellOf } from './support/child.ts'
import { median } from './support/median.ts'
import { printTable } from './support/table.ts'

const quick = process.argv.includes('--quick')
const rounds = quick ? 1 : 5
const counts = [1_000, 10_000]
const apis = [1, 100, 10_000]
const places = ['own origins', 'one origin'] as const

const managersRows = []
for (const managers of counts) managersRows.push(managersRow(managers, await figuresOf({ managers })))
printTable(
  `Managers in one process, each with one issuer and one API with a rate policy; medians of ${rounds} rounds`,
  managersRows,
)
const rows = []
for (const on of places) {
  let base = 0
  for (const count of apis) {
    const all = (await figuresOf({ apis: count, on })) as readonly RoutesFigures[]
    const middle = (key: keyof RoutesFigures): number => median(all.map((each) => each[key]))
    const found = middle('found')
    if (base === 0) base = found
    rows.push({
      APIs: `${count.toLocaleString('en-US')}, ${on}`,
      'time to route': (found / base).toFixed(2),
      'ns to route': found.toFixed(0),
      'ns, URL outside all APIs': middle('outside').toFixed(0),
      'ms to create the manager': middle('create').toFixed(2),
    })
  }
}
printTable(`Finding a URL's API among many, with a different URL each time (one API = 1)`, rows)

async function figuresOf(order: ManagersOrder): Promise<readonly (ManagersFigures | RoutesFigures)[]> {
  const figures: (ManagersFigures | RoutesFigures)[] = []
  for (let round = 0; round < rounds; round += 1) figures.push(await tellOf(startChild('managers.ts', order)))
  return figures
}

function managersRow(
  managers: number,
  figures: readonly (ManagersFigures | RoutesFigures)[],
): Record<string, string> {
  const all = figures as readonly ManagersFigures[]
  const middle = (key: keyof ManagersFigures): number => median(all.map((each) => each[key]))
  return {
    managers: managers.toLocaleString('en-US'),
    'µs to create': middle('create').toFixed(0),
    'KB of heap': (middle('bytes') / 1_000).toFixed(1),
    'µs to close': middle('close').toFixed(0),
    'KB left when closed': (middle('left') / 1_000).toFixed(2),
  }
}
