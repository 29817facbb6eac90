// Writes docs/rejections.md: what the rule about 401s comes to. `pnpm --dir tools/docs write rejections`
import { writeFileSync } from 'node:fs'

import { before } from './before.ts'
import { candidates, playOf } from './candidates.ts'
import { play, type Outcome } from './play.ts'
import { scenes, type Scene } from './scenes.ts'

const page = new URL('../../../../../docs/rejections.md', import.meta.url)
const percent = (share: number): string => `${Number(share.toFixed(1))} %`
const letter = (index: number): string => String.fromCodePoint(65 + index)
const figure = (value: number, digits = 0): string => `${Number(value.toFixed(digits))}`
const requestsOf = (value: number): string => figure(value, value < 1 ? 1 : 0)

/** What several games with different seeds came to, on average. */
interface Mean extends Pick<Outcome, 'lost' | 'requests' | 'extraSends' | 'mean'> {
  /** At most. */
  readonly mostLost: number
  readonly longest: number
}

const seeds = [1, 2, 3]

async function meanOf(playRule: typeof play, scene: Scene): Promise<Mean> {
  const outcomes: Outcome[] = []
  for (const seed of seeds) outcomes.push(await playRule(scene, seed))
  const all = (name: keyof Outcome): number[] => outcomes.map((outcome) => outcome[name])
  const average = (name: keyof Outcome): number => all(name).reduce((sum, one) => sum + one, 0) / seeds.length
  return {
    lost: average('lost'),
    mostLost: Math.max(...all('lost')),
    requests: Math.max(...all('requests')),
    extraSends: average('extraSends'),
    mean: average('mean'),
    longest: Math.max(...all('longest')),
  }
}

const rows: string[] = []
const candidateRows: string[] = []
const plays = await Promise.all(candidates.map(playOf))
for (const { aim = {}, ...scene } of scenes) {
  const rule = await meanOf(play, scene)
  const [lostBefore, requestsBefore] = before[scene.name] ?? [Number.NaN, Number.NaN]
  const aims = [
    ...(aim.lost === undefined ? [] : [percent(aim.lost)]),
    ...(aim.requests === undefined ? [] : [`${aim.requests} ${aim.requests === 1 ? 'request' : 'requests'}`]),
  ].join(', ')
  const cells = [
    scene.name,
    aims,
    percent(rule.lost) + (rule.mostLost > rule.lost + 1 ? ` (${percent(rule.mostLost)})` : ''),
    requestsOf(rule.requests),
    figure(rule.extraSends, 2),
    `${figure(rule.mean)} / ${figure(rule.longest)}`,
    `${percent(lostBefore)}, ${requestsOf(requestsBefore)}`,
  ]
  rows.push(`| ${cells.join(' | ')} |`)
  const others: Mean[] = []
  for (const playCandidate of plays) others.push(await meanOf(playCandidate, scene))
  if (others.some((other) => isUnlike(other, rule)))
    candidateRows.push(`| ${[scene.name, ...[rule, ...others].map(short)].join(' | ')} |`)
}

function isUnlike(one: Mean, other: Mean): boolean {
  const isSlower = Math.abs(one.mean - other.mean) > 20
  return Math.abs(one.lost - other.lost) > 1 || Math.abs(one.requests - other.requests) > 2 || isSlower
}

function short({ lost, requests }: Mean): string {
  return `${percent(lost)}, ${requestsOf(requests)}`
}

writeFileSync(
  page,
  `# What a 401 means

An API responds with a 401 when it refuses a token. Tokenlane then applies the first of these rules that fits:

1. The token has since been replaced: the call is resent with the new one.
2. A renewal is due: the token is renewed, and the call is resent.
3. The API has accepted this token before: the first call that it then refuses is resent immediately, with the same token.
4. Waiting may help: the call waits, for at most a second, and is resent. This applies if a renewal will be due within a
   second, or if the token is new: the API has never accepted it, and first refused it less than a second ago.
   The wait ends when the renewal is due or, for a new token, one second after that first refusal, whichever is sooner.
5. Otherwise the caller gets the 401.

A renewal is due if no 401 has forced one yet, and otherwise one second after the last one that a 401 forced. If the API
does not accept the new token either, that renewal did not help. The next one is then due after 2 to 3 s, and each further
one after twice the previous delay, up to a minute. After two such renewals in a row, rule 4 no longer applies.

An API that accepts a token again after refusing it is refusing good tokens. For the next minute, each call to this API is
then resent immediately after its first 401, and only a full second of refusals, with no call accepted, makes a renewal due.

A call that cannot be resent gets its 401. The class comment in
[\`send/rejections.ts\`](../packages/core/src/send/rejections.ts) has the details.
[\`send/bearer-challenge.ts\`](../packages/core/src/send/bearer-challenge.ts) decides which 401s are about the token at all.

Three limits hold whatever mix of responses an API sends:

- 401s force at most one token request a second per issuer, and fewer while new tokens do not help.
- 401s cause at most two resends of a call.
- A call waits at most twice, for at most a second each time, and never longer than \`maxWait\` in total.

## The table

Each row is a simulation of the real library on a virtual clock. One process makes 20 calls a second, unless the row says
otherwise, and a request takes 10 to 50 ms. Each row is the result of ${seeds.length} runs with different seeds.

- **aim**: the most that a test allows. Empty if none was set.
- **lost**: the average share of calls whose caller gets a 401. The worst run is in brackets if it is at least a point
  higher.
- **requests**: one process's token requests to one issuer in its busiest minute.
- **extra**: how often a call is resent, on average.
- **takes**: how long a call takes in ms, on average and at most.
- **before**: lost calls and requests under the previous rules, measured once with the code of commit 7ba4711.

<!-- written by \`pnpm --dir tools/docs write rejections\` -->

| scene | aim, at most | lost | requests | extra | takes | before |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

A test checks the aims with one seed: [\`scenes.test.ts\`](../packages/core/test/simulation/rejections/scenes.test.ts).

## Other rules

The column "the rule" shows lost calls and token requests as in the table above. Each column from A to F shows the same
simulation after one change to the code. The changes are in
[\`candidates.ts\`](../packages/core/test/simulation/rejections/candidates.ts). The table shows only the scenes in which a
change matters: lost calls differ by more than 1 point, requests by more than 2, or the average time (not shown) by more
than 20 ms.

${candidates.map(({ name }, index) => `- **${letter(index)}**: ${name}`).join('\n')}

| scene | the rule | ${candidates.map((_, index) => letter(index)).join(' | ')} |
| --- | --- | ${candidates.map(() => '---').join(' | ')} |
${candidateRows.join('\n')}

## Where two aims conflict

### How soon the next renewal follows one that did not help

Sooner is better if another process has replaced the token. Later is better if the API's servers take seconds to learn of a
new token, since each renewal restarts that time.

| delay                        | lost: API learns of a token after 5 s | lost: 8 processes, one live token |
| ---------------------------- | ------------------------------------- | --------------------------------- |
| 2 to 3 s, then twice as long | 53 %                                  | 2 %                               |
| 8 to 12 s, then a minute     | 30 %                                  | 15 %                              |

The first was chosen. With it, an API that refuses everything causes six token requests in the first minute, which is the
most that the aims allow.

### Whether the delay between renewals is random

With random delays, processes that replace each other's tokens get out of step: 8 of them lose 2 % instead of 51 %. But
if every delay is random and all tokens are revoked every second, a renewal sometimes comes just before the next
revocation. Then 8 % of the calls are lost instead of none.

So only the delay after a renewal that did not help is random. A revocation every 0.97 s, nearly in step with the renewals,
still loses 7 %.

### Whether a refused call waits or is resent immediately

Waiting is right if the token is dead. Resending immediately is right if the API refuses good tokens. Without such resends, APIs
that refuse 10, 30 and 50 % at random would lose 9, 23 and 32 % instead of 1, 8 and 21 %.

So at first, only the first refused call is resent immediately. If it is then accepted, the API refuses good tokens, and for
a minute every call is resent immediately after its first 401. Resending every call from the start would save no more
calls, and would send more calls to an API that refuses everything.

### Whether calls wait for an API that refuses good tokens

If they did, APIs that refuse 10, 30 and 50 % at random would lose 0.1, 3 and 13 %. But each call to an endpoint that refuses
everything would take a second, and a sequential caller would cause 46 token requests a minute instead of 19.

So a call waits only if another call was refused twice in a row and no call has been accepted since.

### What no delay can fix

An issuer may allow each client only one live token, and take longer to issue one than the time between two calls. If
two processes share such a client, tokens are often replaced before they arrive. The event \`token.contested\` reports this, and a [shared
store](guide/fleet.md) fixes it.
`,
)
