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

After a 401, the first of these that applies decides:

1. The token has been replaced: the call is resent with the new one.
2. A renewal is due: the token is renewed, and the call is resent.
3. The API has accepted this token before: the first call that it then refuses is resent at once.
4. A renewal is due within the next second, or the API has never accepted this token and first refused it less than a second
   ago: the call waits until the renewal is due or that second is over, and is resent.
5. Otherwise the caller gets the 401.

The details are in the comment of the class in [\`send/rejections.ts\`](../packages/core/src/send/rejections.ts). Which 401s are about the token at all is decided in
[\`send/bearer-challenge.ts\`](../packages/core/src/send/bearer-challenge.ts).

Three limits hold whatever mix of responses an API sends:

- 401s force at most one token request a second per issuer, and fewer while new tokens do not help.
- 401s cause at most two resends of a call.
- A call waits at most twice, for at most a second each time, and never longer than \`maxWait\` in total.

## The table

Each row is a simulation on a virtual clock, with the real library: one process (or more, if the row says so) makes 20 calls
a second, and an exchange takes 10 to 50 ms. Each is run with ${seeds.length} seeds. *Lost* is the average share of calls
whose caller gets a 401; the worst seed is in brackets if it is at least a point higher. *Requests* are one process's token
requests to one issuer in its busiest minute. *Extra* is how often a call is resent, on average. *Takes* is how long a call
takes in ms, on average and at most. *Before* is the result of the same scenes under the previous rule (lost calls and
requests), measured once with the code of commit 7ba4711. An empty aim means that none was set.

<!-- written by \`pnpm --dir tools/docs write rejections\` -->

| scene | aim, at most | lost | requests | extra | takes | before |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

A test checks the aims, with one seed: [\`scenes.test.ts\`](../packages/core/test/simulation/rejections/scenes.test.ts).

## Other rules

Each column is the rule with one change to its code, simulated in the same way: lost calls, and token requests. The changes
are in [\`candidates.ts\`](../packages/core/test/simulation/rejections/candidates.ts). A scene has a row only if one of
them changes its lost calls by more than 1 point, its requests by more than 2, or the average time (not shown) by more than
20 ms.

${candidates.map(({ name }, index) => `- **${letter(index)}**: ${name}`).join('\n')}

| scene | the rule | ${candidates.map((_, index) => letter(index)).join(' | ')} |
| --- | --- | ${candidates.map(() => '---').join(' | ')} |
${candidateRows.join('\n')}

## Where two aims conflict

- **How soon the next renewal follows one that did not help.** Sooner is better if another process has replaced the token.
  Later is better if servers take seconds to learn of a new token, since each renewal restarts that time. With a delay of 2
  to 3 s, then twice as long, an API that accepts tokens only after 5 s loses 53 %, and eight processes with one live token
  lose 2 %. With 8 to 12 s, then a minute, it is 30 % and 15 %. The first was chosen. With it, an API that refuses everything causes
  six token requests in the first minute, which is the most that was allowed.
- **Whether the delay between renewals is random.** With random delays, processes that replace each other's tokens get
  out of step: 8 of them lose 2 % instead of 51 %. But if every delay is random, a token that is revoked every second is
  sometimes renewed just before it is revoked, and 8 % are lost instead of none. So only the delay after a renewal that did
  not help is random. A revocation every 0.97 s, nearly in step with the renewals, still loses 7 %.
- **Whether a refused call waits or is resent immediately.** Waiting is right if the token is dead. Resending immediately is
  right if the API refuses good tokens: without it, APIs that refuse 10, 30 and 50 % at random would lose 9, 23 and 32 %
  instead of 1, 8 and 21 %. The first call that is refused is resent at once, and shows the others whether the token still
  works. Resending every call immediately would save no more there, and send more calls to an API that refuses everything.
- **Whether calls wait for an API that refuses good tokens.** If they did, APIs that refuse 10, 30 and 50 % at random would
  lose 0.1, 3 and 13 %. But each call to an endpoint that refuses everything would take a second, and a sequential caller
  would cause 46 token requests a minute instead of 19. So a call waits only after another one was refused twice in a row
  and none has been accepted since.
- **No delay helps with an issuer that is slower than the time between two calls** and allows each client only one live
  token: the token is replaced before it arrives. The event \`token.contested\` reports this, and a
  [shared store](guide/fleet.md) fixes it.
`,
)
