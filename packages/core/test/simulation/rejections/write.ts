// Writes docs/rejections.md: what the rule about 401s comes to. `pnpm --dir tools/docs write rejections`
import { writeFileSync } from 'node:fs'

import { before } from './before.ts'
import { play } from './play.ts'
import { scenes } from './scenes.ts'

const page = new URL('../../../../../docs/rejections.md', import.meta.url)
const percent = (share: number): string => `${Number(share.toFixed(1))} %`
const figure = (value: number, digits = 0): string => `${Number(value.toFixed(digits))}`

const rows: string[] = []
for (const { aim = {}, ...scene } of scenes) {
  const { lost, requests, extraSends, mean, longest } = await play(scene, 1)
  const [lostBefore, requestsBefore] = before[scene.name] ?? [Number.NaN, Number.NaN]
  const aims = [
    ...(aim.lost === undefined ? [] : [percent(aim.lost)]),
    ...(aim.requests === undefined ? [] : [`${aim.requests} requests`]),
  ].join(', ')
  const cells = [
    scene.name,
    aims,
    percent(lost),
    figure(requests, requests < 1 ? 1 : 0),
    figure(extraSends, 2),
    `${figure(mean)} / ${figure(longest)} ms`,
    `${percent(lostBefore)}, ${figure(requestsBefore, requestsBefore < 1 ? 1 : 0)}`,
  ]
  rows.push(`| ${cells.join(' | ')} |`)
}

writeFileSync(
  page,
  `# What a 401 means

What happens to a call after a 401 is one rule. It stands in words above its code, in
[\`send/rejections.ts\`](../packages/core/src/send/rejections.ts). Which 401s speak of the token at all is in
[\`send/bearer-challenge.ts\`](../packages/core/src/send/bearer-challenge.ts).

Three bounds hold whatever mix of responses an API gives:

- 401s force at most one token request a second for each issuer, and fewer while new tokens do not help.
- A call is sent at most twice after its first 401.
- A call waits for at most a second at a time, twice at most, and never for longer than \`maxWait\` in all.

## The table

Each row is a simulation in its own time, with the library as it is: one process (or more, where the row says so) makes 20
calls a second, and an exchange takes 10 to 50 ms. *Lost* is the share of the calls whose caller gets a 401. *Requests* are
the token requests of one process in the minute that has most of them. *Extra* is how often a call is sent again, on
average. *Takes* is how long a call takes, on average and at most. *Before* is what the same scene measured with the rule
before this one, lost calls and requests. An empty aim means that none was set.

<!-- written by \`pnpm --dir tools/docs write rejections\` -->

| scene | aim, at most | lost | requests | extra | takes | before |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

A test holds the aims: [\`scenes.test.ts\`](../packages/core/test/simulation/rejections/scenes.test.ts).

## Where two aims exclude each other

- **How soon a renewal that was in vain is followed by the next.** Soon is right where another process has taken the token
  away. Late is right where all servers learn of a new token only after seconds, since each renewal begins that time anew.
  With 2, 4, 8 s an API that knows tokens after 5 s loses 39 to 56 % (revoked every 20 s), three processes with one live
  token lose 1 %. With 8, 60 s it is 25 % and 9 %. The first was taken: it costs an API that refuses everything six token
  requests in its first minute, which is the most that was allowed.
- **Whether renewals have a random distance.** Processes that take each other's token away come out of step by it: 8
  processes lose 35 % without, about 1 % with it. But a token that is revoked every second is then renewed just before it
  is revoked, and 3 to 6 % are lost instead of none. So only the distance after a renewal in vain differs between
  processes. A revocation every 0.97 s, nearly in step with the renewals, still loses 3 to 10 %.
- **Whether a refused call waits or goes again at once.** To wait saves a call whose token is dead: three processes with
  one live token lose 1 % instead of 20 %. To go at once is right at an API that refuses good tokens: one caller after the
  other would wait a second at each 401, and renew. So the first refused call goes at once, and finds out for all others.
- **Whether calls wait for an API that refuses good tokens.** If they did, 10, 30 and 50 % at random would come to 0.2, 3 and
  14 %. But a call to an endpoint that refuses everything would take a second each time. So they wait only while other
  calls are refused as well, and none is accepted.
- **An issuer that is slower than the time between two calls**, and gives each client one live token, is not helped by
  any distance: the token is taken away before it arrives. The event \`token.contested\` says so, and a
  [shared store](guide/fleet.md) mends it.
`,
)
