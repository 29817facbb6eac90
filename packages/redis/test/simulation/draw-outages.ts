// Draws what outages of Redis cost a fleet, in simulated time: `pnpm --dir tools/docs write pictures`.
import { writeFileSync } from 'node:fs'
import { drawChart } from '../../../../tools/charts/src/index.ts'
import { SimulatedFleet } from './simulated-fleet.ts'

const outage = 10_000
/** Before and after the beginning of the outage. */
const before = 5_000
const after = 25_000
const step = 1_000

const faults: Readonly<Record<string, (fleet: SimulatedFleet) => void>> = {
  'Redis is killed for 10 s': (fleet) => fleet.crash(outage),
  'Redis does not respond for 10 s': (fleet) => (fleet.stillUntil = fleet.world.now + outage),
}

const measured: [title: string, calls: readonly object[]][] = []
for (const [title, happen] of Object.entries(faults)) {
  const fleet = new SimulatedFleet({ seed: 1, size: 24, limits: [{ quota: 25, window: 1_000 }] })
  await fleet.run(20_000)
  fleet.reset()
  const start = fleet.world.now + before
  await fleet.run(before)
  happen(fleet)
  await fleet.run(after)
  measured.push([title, callsBySecond(fleet.arrivals, start)])
}
const label =
  'Calls a second of 24 processes whose Redis is killed, or does not respond, for 10 s: none for 2 s or 8 s, then nearly all'
const forms = { outage: 560, 'outage-narrow': 270 }
for (const [name, width] of Object.entries(forms)) {
  const panels = measured.map(([title, calls]) => panel(title, calls, width))
  const spec = { vconcat: panels, spacing: 24 } as unknown as Parameters<typeof drawChart>[0]
  const picture = new URL(`../../../../docs/images/${name}.svg`, import.meta.url)
  writeFileSync(picture, `${await drawChart(spec, label)}\n`)
}

function callsBySecond(arrivals: readonly number[], start: number): { second: number; calls: number }[] {
  return Array.from({ length: (before + after) / step }, (_, index) => {
    const from = start - before + index * step
    const calls = arrivals.filter((at) => at >= from && at < from + step).length
    return { second: (from - start) / 1_000, calls: calls * (1_000 / step) }
  })
}

function panel(title: string, values: readonly object[], width: number): object {
  const x = { type: 'quantitative', scale: { domain: [-before / 1_000, after / 1_000], nice: false } }
  return {
    title,
    width,
    height: 110,
    layer: [
      {
        data: { values: [{ from: 0, to: outage / 1_000 }] },
        mark: { type: 'rect', color: '#d55e00', opacity: 0.15 },
        encoding: {
          x: { ...x, field: 'from', axis: { title: 'seconds after Redis goes away', grid: false } },
          x2: { field: 'to' },
        },
      },
      {
        data: { values },
        mark: { type: 'area', interpolate: 'step-after', color: '#00795a', opacity: 0.8 },
        encoding: {
          x: { ...x, field: 'second' },
          y: { field: 'calls', type: 'quantitative', axis: { title: 'calls a second', tickCount: 3 } },
        },
      },
    ],
  }
}
