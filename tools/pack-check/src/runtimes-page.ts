import type { KeptRow } from './runtime-rows.ts'

const columns = ['entries, ESM', 'calls, ESM', 'entries, CommonJS', 'calls, CommonJS', 'conformance suite']

/** Returns docs/runtimes.md. */
export function runtimesPage(rows: readonly KeptRow[]): string {
  const lines = rows.map(
    ({ runtime, ran, cells }) =>
      `| ${runtime} | ${columns.map((name) => cells[name] ?? '–').join(' | ')} | ${ran} |`,
  )
  return `# Runtimes

What the packed packages do on each runtime, installed by npm outside of the workspace. _Entries_: every entry of every
package is imported (ESM) and required (CommonJS). _Calls_: each client calls both APIs of a sandbox over TLS, with a
body, across revoked tokens, through a rate policy, into an abort, and to a URL that gets no token; the sandbox runs on
Node. The _conformance suite_ counts the [scenarios](conformance.md) that hold, of all clients together, and of each where
some do not. The sandbox then runs on that runtime too, except for the last two: a Worker and an edge route cannot start
servers, so they play the scenarios against servers in Node, and cannot see which listeners a signal keeps.

| runtime | ${columns.join(' | ')} | ran on |
| --- | ${columns.map(() => '---').join(' | ')} | --- |
${lines.join('\n')}

${rows.map(differencesOf).join('')}
## Cloudflare Workers

workerd is the runtime of Cloudflare Workers. It ends timers, requests and waits together with the incoming request that
began them. What that means here was tested with the newest compatibility date and with 2022-10-31, the oldest that the
package can be loaded with:

| what                                          | in workerd                                                                                            |
| --------------------------------------------- | ----------------------------------------------------------------------------------------------------- |
| the token                                     | one for each isolate, shared by all of its requests                                                   |
| first calls of many requests at once          | one token request; the other calls look for its token every 10 ms                                     |
| the request that asked the issuer has ended   | another call asks, a second later at most                                                             |
| background renewal                            | goes on beyond the response by \`waitUntil\` of \`cloudflare:workers\` (\`nodejs_compat\`); without it, calls wait for the renewal at the end of the token's life |
| a rate policy                                 | \`RUNTIME_UNSUPPORTED\` at start: isolates share no limit, and queued calls end with their request |
| a call or \`warmUp\` while modules are loaded | \`RUNTIME_UNSUPPORTED\`                                                                               |
| \`close()\`                                   | waits for the calls of its own request; across requests it was not tested, and a Worker has no end to call it at |
| a compatibility date before 2022-10-31        | refused when the package is loaded                                                                    |

workerd itself opened all connections, over TLS, and trusted the sandbox's certificate authority only.

## Next.js

The suite runs in an edge route of an application that \`next build\` built and \`next start\` serves. \`pnpm --dir tools/edge next\` builds
[the example](../examples/nextjs) likewise and makes its calls: routes in Node and in the edge runtime, and a development
server that loads its modules again, which keeps its manager. No token is taken from the cache of Next.js, not even where
a route says \`fetchCache = 'force-cache'\`.

Written by \`pnpm --dir tools/docs write runtimes\`.
`
}

function differencesOf({ runtime, differences }: KeptRow): string {
  const reasons = [...new Set(differences.map(({ because }) => because))]
  if (reasons.length === 0) return ''
  const parts = reasons.map((reason) => {
    const scenarios = differences.filter(({ because }) => because === reason)
    return `${reason}\n\n${scenarios.map(({ scenario }) => `- ${scenario}\n`).join('')}`
  })
  return `## What does not hold on ${runtime}\n\n${parts.join('\n')}\n`
}
