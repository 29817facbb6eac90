// A chart of the last minute that is drawn anew when a sample arrives.
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { ticks } from './history.ts'

export interface Line {
  readonly label: string
  /** Name of a colour of the style sheet: `--ok`, `--bad`. */
  readonly colour: string
  readonly kind: 'line' | 'points' | 'bars' | 'limit'
}

export interface ChartProps {
  /** What the chart shows, for readers who cannot see it. */
  readonly label: string
  readonly lines: readonly Line[]
  /** Returns the times in seconds, and the values of each line. */
  readonly data: () => [times: number[], ...values: (number | null)[][]]
}

const height = 150

export function Chart({ label, lines, data }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const latest = useRef(data)
  latest.current = data

  useEffect(() => {
    const element = frame.current as HTMLDivElement
    const make = (): void => {
      chart.current?.destroy()
      chart.current = new uPlot(optionsOf(lines, element.clientWidth), latest.current(), element)
    }
    make()
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', make)
    const unsubscribe = ticks.subscribe(() => {
      if (!document.hidden) chart.current?.setData(latest.current())
    })
    return () => {
      unsubscribe()
      dark.removeEventListener('change', make)
      resized.disconnect()
      chart.current?.destroy()
    }
  }, [lines.map((line) => line.label).join()])

  return <div class="chart" role="img" aria-label={label} ref={frame} />
}

function optionsOf(lines: readonly Line[], width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const axis: uPlot.Axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  return {
    width,
    height,
    cursor: { show: false },
    legend: { show: false },
    scales: {
      x: { range: (_, __, max) => [max - 60, max] },
      y: { range: (_, __, max) => [0, Math.max(4, Math.ceil(max * 1.15))] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        // whole tens of seconds before now, with room for their labels
        splits: (chart) => {
          const [now, apart] = [chart.scales['x']?.max ?? 0, chart.width > 480 ? 10 : 30]
          return Array.from({ length: 60 / apart + 1 }, (_, index) => now - 60 + apart * index)
        },
        values: (chart, times) => times.map((time) => ago(time, chart.scales['x']?.max ?? time)),
      },
      { ...axis, size: 36 },
    ],
    series: [
      {},
      ...lines.map(({ kind, label, colour: name }): uPlot.Series => {
        const stroke = colour(name)
        if (kind === 'points')
          return { label, stroke, paths: () => null, points: { show: true, size: 7, fill: stroke } }
        const paths =
          kind === 'bars' ? uPlot.paths.bars?.({ size: [0.6, 8] }) : uPlot.paths.stepped?.({ align: 1 })
        return {
          label,
          stroke,
          width: kind === 'limit' ? 1.5 : 2,
          points: { show: false },
          ...(kind === 'limit' && { dash: [5, 4] }),
          ...(kind !== 'limit' && { fill: `${stroke}22` }),
          ...(paths && { paths }),
        }
      }),
    ],
  }
}

function ago(time: number, now: number): string {
  const seconds = Math.round(now - time)
  return `${seconds} s ago`
}
