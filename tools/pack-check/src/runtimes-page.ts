import type { KeptRow } from './runtime-rows.ts'

const columns = ['entries, ESM', 'calls, ESM', 'entries, CommonJS', 'calls, CommonJS', 'conformance suite']

/** Returns docs/runtimes.md. */
export function runtimesPage(rows: readonly KeptRow[]): string {
  const lines = rows.map(
    ({ runtime, ran, cells }) =>
      `| ${runtime} | ${columns.map((name) => cells[name] ?? '–').join(' | ')} | ${ran} |`,
  )
  return `# Runtimes

This page shows what the packed packages do on each runtime, installed with npm outside the workspace. _Entries_: every entry
point of every package is imported (ESM) and required (CommonJS). _Calls_: each client calls both of a sandbox's APIs over TLS, with a
body, with revoked tokens, through a rate policy and with an abort, and also calls a URL that gets no token; the sandbox runs
on Node. The _conformance suite_ column counts the [scenarios](conformance.md) that pass, for all clients together (on Node,
undici counts seven times: three methods each of undici 7 and 8, and the global \`fetch\`), and names the clients for which
some fail. For this column, the sandbox runs on the tested runtime, except in the last two rows: a Worker and an edge
route cannot start servers, so they play the scenarios against servers in Node, and cannot see which listeners are left on a
signal. undici is tested on Node only: the \`fetch\` of Bun and Deno does not use it.

| runtime | ${columns.join(' | ')} | ran on |
| --- | ${columns.map(() => '---').join(' | ')} | --- |
${lines.join('\n')}

${rows.map(differencesOf).join('')}
## Cloudflare Workers

workerd is the Cloudflare Workers runtime. It ends timers, requests and waits together with the incoming request that
started them. The consequences were tested with the newest compatibility date and with 2022-10-31, the oldest that can load
the package:

| what                                          | in workerd                                                                                            |
| --------------------------------------------- | ----------------------------------------------------------------------------------------------------- |
| the token                                     | one per isolate, shared by all its requests                                                   |
| first calls from many requests at once          | one token request; the other calls check for its token every 10 ms                                     |
| the request that began the token request has ended | another call requests the token, at most a second later                                                             |
| background renewal                            | continues after the response with \`nodejs_compat\` (\`waitUntil\`); without it, calls wait for it at expiry |
| a rate policy                                 | \`RUNTIME_UNSUPPORTED\` at start: isolates share no limit, and queued calls end with their request |
| a call or \`warmUp\` while modules are loaded | \`RUNTIME_UNSUPPORTED\`                                                                               |
| \`close()\`                                   | waits for its own request's calls; not tested across requests; a Worker has no shutdown hook to call it from |
| a compatibility date before 2022-10-31        | refused when the package is loaded                                                                    |

workerd itself opened all connections, over TLS, and trusted only the sandbox's certificate authority.

## Next.js

The suite runs in an edge route of an application built by \`next build\` and served by \`next start\`.
\`pnpm --dir tools/edge next\` builds [the example](../examples/nextjs) the same way and makes its calls: in Node routes, in
the edge runtime, and in a development server, which keeps its manager when it reloads modules. No token comes from the
Next.js cache, not even if a route sets \`fetchCache = 'force-cache'\`.

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
  return `## What does not pass on ${runtime}\n\n${parts.join('\n')}\n`
}
