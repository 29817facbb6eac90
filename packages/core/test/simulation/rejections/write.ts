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

1. If the token has been replaced in the meantime, the call is resent with the new token.
2. If a renewal is due, the token is renewed, and the call is resent.
3. If the API has accepted this token and has not refused it since, the call is resent immediately, with the same token.
4. If waiting may help, the call waits for at most a second and is then resent. Waiting may help if a renewal will be due
   within a second, or if the token is new. A token is new until the API has accepted it or has refused it for a second.
   The wait ends when the renewal is due or, for a new token, one second after its first refusal, whichever is sooner.
5. Otherwise, the caller gets the 401.

If no 401 has forced a renewal yet, a renewal is due immediately. After that, the next renewal is due one second after the
last one that a 401 forced. If the API refuses the new token too, that renewal did not help. The next one is then due after
2 to 3 s, and each further one after twice the previous delay, up to a minute. After two such renewals in a row, rule 4 no
longer applies.

If the API refuses a token that is not new and later accepts it, Tokenlane assumes that the API sometimes refuses good
tokens. For the next minute, each call to this API is resent immediately after its first 401. During that minute, a renewal
is due only after a full second in which the API has refused calls and accepted none.

If a call cannot be resent, its caller gets the 401. The class comment in
[\`send/rejections.ts\`](../packages/core/src/send/rejections.ts) has the details.
[\`send/bearer-challenge.ts\`](../packages/core/src/send/bearer-challenge.ts) decides which 401s are about the token at all.

Whatever an API responds, three limits hold:

- 401s force at most one token request a second per issuer, and fewer while renewals do not help.
- A call is resent at most twice because of 401s.
- A call waits at most twice, for at most a second each time, and never longer than \`maxWait\` in total.

## The table

Each row shows the results of ${seeds.length} simulations with different seeds. They run the real library on a virtual clock. Unless the
row says otherwise, one process makes 20 calls a second. A request takes 10 to 50 ms. "One live token" means that the issuer
revokes a client's previous token when it issues a new one.

- **aim**: the most lost calls and token requests that a test allows. The cell is empty if no aim was set.
- **lost**: the average share of calls whose caller gets a 401. The worst simulation is in brackets if it is more than a
  percentage point higher.
- **requests**: token requests per process to one issuer, in the busiest minute.
- **extra**: how often a call is resent, on average.
- **takes**: the average and the longest duration of a call, in ms.
- **before**: lost calls and token requests under the previous rules, measured once with the code of commit 7ba4711.

<!-- written by \`pnpm --dir tools/docs write rejections\` -->

| scene | aim, at most | lost | requests | extra | takes | before |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

A test checks the aims with one seed: [\`scenes.test.ts\`](../packages/core/test/simulation/rejections/scenes.test.ts).

## Other rules

The column "unchanged" shows lost calls and token requests as in the table above. Each of the columns A to F shows the same
simulations after one change to the code. The changes are in
[\`candidates.ts\`](../packages/core/test/simulation/rejections/candidates.ts). A scene is listed only if at least one change
alters the lost calls by more than 1 percentage point, the token requests by more than 2, or a call's average duration (not
shown) by more than 20 ms.

${candidates.map(({ name }, index) => `- **${letter(index)}**: ${name}`).join('\n')}

| scene | unchanged | ${candidates.map((_, index) => letter(index)).join(' | ')} |
| --- | --- | ${candidates.map(() => '---').join(' | ')} |
${candidateRows.join('\n')}

## Where two aims conflict

### How soon the next renewal follows one that did not help

A short delay is better if another process has replaced the token. A long delay is better if the API's servers learn of a
new token only after some seconds, because each renewal starts that wait again.

| delay                        | lost if the API learns of a token after 5 s | lost with 8 processes, one live token |
| ---------------------------- | ------------------------------------- | --------------------------------- |
| 2 to 3 s, then twice as long | 53 %                                  | 2 %                               |
| 8 to 12 s, then a minute     | 30 %                                  | 15 %                              |

The delay in the first row was chosen. With it, an API that refuses everything causes six token requests in the first minute,
the most that the aims allow.

### Whether the delay between renewals is random

With random delays, processes that replace each other's tokens get out of step: 8 of them lose 2 % of their calls instead of
51 %. But if every delay is random and all tokens are revoked every second, a renewal sometimes comes just before the next
revocation, and 8 % of the calls are lost instead of none.

So only the delay after a renewal that did not help is random. If tokens are revoked every 0.97 s, nearly in step with the
renewals, 7 % of the calls are still lost.

### Whether a refused call waits or is resent immediately

Waiting is right if the token is dead. Resending immediately is right if the API refuses good tokens. With an API that
refuses 10, 30 or 50 % of its calls at random, 9, 23 or 32 % of the calls would be lost without such resends, instead of 1,
8 or 21 %.

So at first, only the first refused call is resent immediately. If it is then accepted, the API refuses good tokens, so for
a minute every call is resent immediately after its first 401. Resending every call from the start would save no more
calls, and would send more calls to an API that refuses everything.

### Whether calls wait if an API refuses good tokens

If they did, only 0.1, 3 or 13 % of the calls would be lost with an API that refuses 10, 30 or 50 % at random. But each call
to an endpoint that refuses everything would take a second. With an API that refuses 30 %, a sequential caller would cause
46 token requests a minute instead of 19.

So with such an API, a call waits only if another call was refused twice in a row and no call has been accepted since.

### What no delay can fix

Some issuers allow each client only one live token. If two processes share such a client, and a token request takes longer
than the time between two calls, a token is often replaced before it arrives. The event \`token.contested\` reports this, and
a [shared store](guide/fleet.md) fixes it.
`,
)
