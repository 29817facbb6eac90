import type { KeptRow } from './runtime-rows.ts'

const columns = ['entries, ESM', 'calls, ESM', 'entries, CommonJS', 'calls, CommonJS', 'conformance suite']

/** Returns docs/runtimes.md. */
export function runtimesPage(rows: readonly KeptRow[]): string {
  const lines = rows.map(
    ({ runtime, ran, cells }) =>
      `| ${runtime} | ${columns.map((name) => cells[name] ?? '–').join(' | ')} | ${ran} |`,
  )
  return `# Runtimes

This page shows what was tested on each runtime. The packages are packed as for publication and installed with npm outside
the workspace.

- **entries**: every entry point of every package is imported (ESM) and required (CommonJS).
- **calls**: each client calls both of a sandbox's APIs over TLS, with a body, with revoked tokens, through a rate policy and
  with an abort. It also calls a URL that gets no token. The sandbox runs on Node.
- **conformance suite**: how many of the [scenarios](conformance.md) pass, for all clients together. If some do not pass, the
  column names the clients. On Node, undici counts seven times: for three methods each of undici 7 and 8, and for the global \`fetch\`.

The conformance suite's sandbox runs on the tested runtime, except in the last two rows: a Worker and an edge route cannot
start servers, so the servers run on Node. In these two rows, the suite also cannot check which listeners are left on a signal.
undici is tested on Node only, because the \`fetch\` of Bun and Deno does not use it.

| runtime | ${columns.join(' | ')} | ran on |
| --- | ${columns.map(() => '---').join(' | ')} | --- |
${lines.join('\n')}

${rows.map(differencesOf).join('')}
## Cloudflare Workers

workerd is the Cloudflare Workers runtime. When an incoming request ends, workerd also ends the timers, requests and
waits that it started. The table shows what follows from this. It was tested with the newest compatibility date and with
2022-10-31, the oldest that can load the package.

| what                                          | in workerd                                                                                            |
| --------------------------------------------- | ----------------------------------------------------------------------------------------------------- |
| the token                                     | one per isolate, shared by all its requests                                                   |
| first calls of many requests at once          | one token request; the other calls check for its token every 10 ms                                     |
| the request that began the token request has ended | another call requests the token, at most a second later                                                             |
| background renewal                            | with \`nodejs_compat\`, continues after the response (\`waitUntil\`); without it, calls wait for it at expiry |
| a rate policy                                 | \`RUNTIME_UNSUPPORTED\` at start-up: isolates cannot share a limit, and queued calls end with their request |
| a call or \`warmUp\` while modules are still loading | \`RUNTIME_UNSUPPORTED\`                                                                               |
| \`close()\`                                   | waits for the calls of its own request (others not tested); Workers have no shutdown hook to call it from |
| a compatibility date before 2022-10-31        | refused when the package is loaded                                                                    |

In these tests, workerd itself opened all connections over TLS and trusted only the sandbox's certificate authority.

## Next.js

The suite runs in an edge route of an application built by \`next build\` and served by \`next start\`.
\`pnpm --dir tools/edge next\` builds [the example](../examples/nextjs) the same way and makes its calls in Node routes, in
the edge runtime and in a development server. The development server keeps its manager when it reloads modules. No token
comes from the Next.js cache, even if a route sets \`fetchCache = 'force-cache'\`.

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
