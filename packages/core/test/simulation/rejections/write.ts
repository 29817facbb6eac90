// Writes table.md: what the rule about 401s comes to. `pnpm --dir tools/docs write rejections`
import { writeFileSync } from 'node:fs'

import { before } from './before.ts'
import { play, type Outcome } from './play.ts'
import { scenes, type Scene } from './scenes.ts'

const page = new URL('table.md', import.meta.url)
const percent = (share: number): string => `${Number(share.toFixed(1))} %`
const figure = (value: number, digits = 0): string => `${Number(value.toFixed(digits))}`
const requestsOf = (value: number): string => figure(value, value < 1 ? 1 : 0)

const seeds = [1, 2, 3]

/** Returns the cells of one row. */
async function cellsOf({ aim = {}, ...scene }: Scene): Promise<string[]> {
  const outcomes: Outcome[] = []
  for (const seed of seeds) outcomes.push(await play(scene, seed))
  const all = (name: keyof Outcome): number[] => outcomes.map((outcome) => outcome[name])
  const average = (name: keyof Outcome): number => all(name).reduce((sum, one) => sum + one, 0) / seeds.length
  const [lostBefore, requestsBefore] = before[scene.name] ?? [Number.NaN, Number.NaN]
  const aims = [
    ...(aim.lost === undefined ? [] : [percent(aim.lost)]),
    ...(aim.requests === undefined ? [] : [`${aim.requests} ${aim.requests === 1 ? 'request' : 'requests'}`]),
  ].join(', ')
  const lost = average('lost')
  const mostLost = Math.max(...all('lost'))
  return [
    scene.name,
    aims,
    percent(lost) + (mostLost > lost + 1 ? ` (${percent(mostLost)})` : ''),
    requestsOf(Math.max(...all('requests'))),
    figure(average('extraSends'), 2),
    `${figure(average('mean'))} / ${figure(Math.max(...all('longest')))}`,
    `${percent(lostBefore)}, ${requestsOf(requestsBefore)}`,
  ]
}

const rows: string[] = []
for (const scene of scenes) rows.push(`| ${(await cellsOf(scene)).join(' | ')} |`)

writeFileSync(
  page,
  `# What the rule about 401s comes to

Each row shows the results of ${seeds.length} simulations with different seeds. They run the real library on a virtual clock. Unless the
row says otherwise, one process makes 20 calls a second. A request takes 10 to 50 ms. "One live token" means that the issuer
revokes a client's previous token when it issues a new one. [\`scenes.ts\`](scenes.ts) has the scenes, and
[\`send/rejections.ts\`](../../../src/send/rejections.ts) the rule.

- **aim**: the most lost calls and token requests that a test allows with one seed. The cell is empty if no aim was set.
- **lost**: the average share of calls whose caller gets a 401. The worst simulation is in brackets if it is more than a
  percentage point higher.
- **requests**: token requests per process to one issuer, in the busiest minute.
- **extra**: how often a call is resent, on average.
- **takes**: the average and the longest duration of a call, in ms.
- **before**: lost calls and token requests under the previous rule, which sent a call up to three times.

<!-- written by \`pnpm --dir tools/docs write rejections\` -->

| scene | aim, at most | lost | requests | extra | takes | before |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`,
)
