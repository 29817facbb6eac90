// Writes charts.md: what a busy issuer gets. `pnpm --dir tools/docs write busy`
import { writeFileSync } from 'node:fs'

import { type LimitedEndpoint, startOf20, startOf40Tenants } from './play.ts'

const seed = 1

/** Returns how many of the moments are in each step of time. */
function counted(moments: readonly number[], step: number, steps: number): number[] {
  return Array.from(
    { length: steps },
    (_, index) => moments.filter((at) => Math.floor(at / 1_000 / step) === index).length,
  )
}

function chart(title: string, { requests, granted }: LimitedEndpoint, seconds: number, step: number): string {
  const steps = seconds / step
  const perSecond = (moments: readonly number[]): string =>
    counted(moments, step, steps)
      .map((count) => Number((count / step).toFixed(2)))
      .join(', ')
  const last = Math.ceil((granted.at(-1) ?? 0) / 1_000)
  return `## ${title}

${requests.length} requests, ${granted.length} tokens, the last one after ${last} s.

\`\`\`mermaid
xychart-beta
  title "Requests a second (bars) and tokens a second (line)"
  x-axis "seconds" 0 --> ${seconds}
  y-axis "a second"
  bar [${perSecond(requests)}]
  line [${perSecond(granted)}]
\`\`\``
}

const charts = [
  chart('20 processes, one request a second, 429', await startOf20(seed), 120, 4),
  chart(
    '20 processes, one request a second, a bare 503',
    await startOf20(seed, () => new Response('', { status: 503 })),
    120,
    4,
  ),
  chart('40 tenants of one process, 5 requests a second, 429', await startOf40Tenants(seed), 20, 1),
]

writeFileSync(
  new URL('charts.md', import.meta.url),
  `# What a busy issuer gets

All ask for their first token at the same moment. The token endpoint counts the requests that it refuses, too, and does not
say when to come back. Processes know nothing of one another; tenants of one process ask one after another. The real library
runs on a virtual clock; each application asks again half a second after a failure.
[\`test/field/busy-issuer.test.ts\`](../../field/busy-issuer.test.ts) holds the bounds: all have a token within 120 s and 200
requests, and the tenants within 20 s and 120 requests.

<!-- written by \`pnpm --dir tools/docs write busy\` -->

${charts.join('\n\n')}
`,
)
