// Draws how large core was after each change, from the history of this repository: `pnpm --dir tools/docs write pictures`.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { drawChart } from '@tokenlane/charts'

const root = new URL('../../../', import.meta.url)
/** Every so many changes. */
const step = 5

const commits = git('log', '--first-parent', '--reverse', '--format=%H').trim().split('\n')
const values = commits.flatMap((commit, change) => {
  if (change % step !== 0 && change !== commits.length - 1) return []
  const counts = git('grep', '-c', '', commit, '--', 'packages/core/src/*.ts', ':!*.test.ts')
    .trim()
    .split('\n')
  const lines = counts.reduce((sum, row) => sum + Number(row.split(':').at(-1)), 0)
  return [{ change, lines, text: `${lines.toLocaleString('en')} lines in ${counts.length} files` }]
})
const x = { field: 'change', type: 'quantitative', axis: { title: 'changes', grid: false } }
const y = { field: 'lines', type: 'quantitative', axis: { title: 'lines of core', format: ',d' } }
const specOf = (width: number): Parameters<typeof drawChart>[0] =>
  ({
    data: { values },
    width,
    height: 180,
    layer: [
      { mark: { type: 'line', color: '#00795a', strokeWidth: 2 }, encoding: { x, y } },
      {
        transform: [{ filter: `datum.change === ${commits.length - 1}` }],
        mark: { type: 'text', align: 'right', dy: 60, dx: 4 },
        encoding: { x, y, text: { field: 'text' } },
      },
    ],
  }) as unknown as Parameters<typeof drawChart>[0]
const label = `Lines of core's source after each change; after the last one ${values.at(-1)?.text ?? ''}`
const forms = { 'core-size': 560, 'core-size-narrow': 260 }
for (const [name, width] of Object.entries(forms))
  writeFileSync(new URL(`docs/images/${name}.svg`, root), `${await drawChart(specOf(width), label)}\n`)

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 })
}
