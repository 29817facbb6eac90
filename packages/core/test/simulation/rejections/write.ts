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
    ...(aim.requests === undefined ? [] : [`${aim.requests} requests`]),
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

What happens to a call after a 401 is one rule. It stands in words above its code, in
[\`send/rejections.ts\`](../packages/core/src/send/rejections.ts). Which 401s speak of the token at all is in
[\`send/bearer-challenge.ts\`](../packages/core/src/send/bearer-challenge.ts).

Three bounds hold whatever mix of responses an API gives:

- 401s force at most one token request a second for each issuer, and fewer while new tokens do not help.
- A call is sent at most twice after its first 401.
- A call waits for at most a second at a time, twice at most, and never for longer than \`maxWait\` in all.

## The table

Each row is a simulation in its own time, with the library as it is: one process (or more, where the row says so) makes 20
calls a second, and an exchange takes 10 to 50 ms. Each is played with ${seeds.length} seeds. *Lost* is the share of the calls whose
caller gets a 401, on average; in brackets is the seed that loses most, where that is a point more. *Requests* are the
token requests of one process at one issuer in the minute that has most of them. *Extra* is how often a call is sent
again, on average. *Takes* is how long a call takes in ms, on average and at most. *Before* is what the same scenes came to with
the rule before this one, lost calls and requests: measured once, with the code of commit 7ba4711. An empty aim means that
none was set.

<!-- written by \`pnpm --dir tools/docs write rejections\` -->

| scene | aim, at most | lost | requests | extra | takes | before |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

A test holds the aims, with one seed:
[\`scenes.test.ts\`](../packages/core/test/simulation/rejections/scenes.test.ts).

## Other rules

Each column is the rule with a change in its code, played by the same command: lost calls, and token requests. The changes are in
[\`candidates.ts\`](../packages/core/test/simulation/rejections/candidates.ts). Scenes that all of them leave as they are have no row.

${candidates.map(({ name }, index) => `- **${letter(index)}**: ${name}`).join('\n')}

| scene | the rule | ${candidates.map((_, index) => letter(index)).join(' | ')} |
| --- | --- | ${candidates.map(() => '---').join(' | ')} |
${candidateRows.join('\n')}

## Where two aims exclude each other

- **How soon a renewal that was in vain is followed by the next.** Soon is right where another process has taken the token
  away. Late is right where all servers learn of a new token only after seconds, since each renewal restarts that time.
  With 2 to 3 s, then twice as long, an API that knows tokens after 5 s loses 53 %, and eight processes with one live token
  lose 2 %. With 8 to 12 s, then a minute, it is 30 % and 15 %. The first was taken: it costs an API that refuses everything
  six token requests in its first minute, which is the most that was allowed.
- **Whether the distance between renewals is random.** It brings processes that take each other's token away out of step: 8
  of them lose 51 % without it, 2 % with it. But if every distance is random, a token that is revoked every second is then
  renewed just before it is revoked, and 8 % are lost instead of none. So only the distance after a renewal in vain is
  drawn. A revocation every 0.97 s, nearly in step with the renewals, still loses 7 %.
- **Whether a refused call waits or goes again at once.** To wait is right for a token that is dead. To go at once is right
  at an API that refuses good tokens: if no call did, 10, 30 and 50 % at random would come to 9, 23 and 32 % instead of
  1, 8 and 21 %. The first refused call of a token finds out for all others. If each went at once, as many would be lost,
  and an API that refuses everything would get more calls.
- **Whether calls wait for an API that refuses good tokens.** If they did, 10, 30 and 50 % at random would come to 0.1, 3 and
  13 %. But each call to an endpoint that refuses everything would take a second, and one caller after the other would cost
  46 token requests a minute instead of 19. So a call waits only after another one was refused twice in a row, and none was
  accepted since.
- **An issuer that is slower than the time between two calls**, and gives each client one live token, is not helped by
  any distance: the token is taken away before it arrives. The event \`token.contested\` says so, and a
  [shared store](guide/fleet.md) fixes it.
`,
)
