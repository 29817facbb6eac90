import { openSuite, scenarioNames, unplayed, workerdVersion } from '@tokenlane/edge-check'

import type { Project } from './project.ts'

/** Plays the conformance suite of fetch in workerd, with the installed tarballs; returns a chapter of the page. */
export async function edgeTable({ folder }: Project): Promise<string> {
  await using suite = await openSuite(folder)
  const failed: string[] = []
  for (const [index, name] of scenarioNames.entries()) {
    const isPlayed = !unplayed.some(({ scenarios }) => scenarios.test(name))
    const failure = isPlayed ? await suite.play(index) : undefined
    if (failure !== undefined) console.error(`workerd: ${name}\n${failure}`)
    if (!isPlayed || failure !== undefined) failed.push(name)
  }
  if (failed.length > unplayed.length) process.exitCode = 1
  const held = `${scenarioNames.length - failed.length} of ${scenarioNames.length}`
  return `## Cloudflare Workers

workerd ${workerdVersion}, the runtime of Cloudflare Workers, runs core and fetch: ${held} scenarios of the conformance suite
hold. ${unplayed.map(({ because }) => because).join(' ')} workerd ends timers, requests and waits together with the
incoming request that began them. What that means here was tested with the newest compatibility date and with 2022-10-31,
the oldest that the package can be loaded with:

| what                                          | in workerd                                                                                            |
| --------------------------------------------- | ----------------------------------------------------------------------------------------------------- |
| the token                                     | one for each isolate, shared by all of its requests                                                   |
| first calls of many requests at once          | one token request; the other calls look for its token every 10 ms                                     |
| the request that asked the issuer has ended   | another call asks, a second later at most                                                             |
| background renewal                            | goes on beyond the response by \`waitUntil\` of \`cloudflare:workers\` (\`nodejs_compat\`); without it, calls wait for the renewal at the end of the token's life |
| rate policy, concurrency, priorities, pauses  | hold for all requests of one isolate; Cloudflare runs many isolates, which share no limit              |
| a request that ends with a call in flight     | its slot comes free after a second, and its unit like that of a call without a response |
| a call or \`warmUp\` while modules are loaded | \`RUNTIME_UNSUPPORTED\`                                                                               |
| \`close()\`                                   | waits for the calls of its own request; across requests it was not tested, and a Worker has no end to call it at |
| a compatibility date before 2022-10-31        | refused when the package is loaded                                                                    |

workerd itself opened all connections, over TLS, and trusted the sandbox's certificate authority only.

## Next.js

\`pnpm next-check\` builds [an application](../examples/nextjs) with Next.js 16.4.6 and makes its calls: routes in Node and in the
edge runtime, and a development server that loads its modules again, which keeps its manager. No token is taken from the
cache of Next.js, not even where a route says \`fetchCache = 'force-cache'\`.
`
}
