// All clients against a service whose network, issuers and APIs fail at random: `pnpm --dir tools/soak faults [seconds] [seed]`.
// Ends with status 1 if something happened that must not.
import { Random } from '@tokenlane/testing/random'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'

import { createTokenManager, generalIssuer, weblinkIssuer } from '@tokenlane/core'

import { runCallers } from './callers.ts'
import { createClients } from './clients.ts'
import { playFaults } from './faults.ts'
import { explanationOf } from './outcome.ts'
import { limits } from './policy.ts'
import { brokenBy, print, type Result } from './result.ts'
import { handles, heapUsed } from './resources.ts'
import { SecretWatch } from './secret-watch.ts'
import { startService } from './service-process.ts'
import { Account, Tally } from './tally.ts'

const [seconds = '60', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)
console.log(`pnpm --dir tools/soak faults ${seconds} ${seed}`)

/** A manager that has not closed this long after the last call, in milliseconds, never will. */
const longestClose = 30_000

const service = await startService(Number(seed))
const { ca, credentials, apis, issuers, outside } = await service.ask('addresses')
tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca])

const account = new Account()
const secrets = new SecretWatch()
const events = new Tally()
const unexplained: string[] = []
for (const { clientSecret } of Object.values(credentials)) secrets.add(clientSecret)

const handlesBefore = handles()
const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({ authUrl: issuers.general, credentials: () => credentials.general }),
    weblink: weblinkIssuer({ authUrl: issuers.weblink, credentials: () => credentials.weblink }),
  },
  apis: [
    { baseUrl: apis.general, issuer: 'general' },
    { baseUrl: apis.weblink, issuer: 'weblink', ratePolicy: { limits, maxWait: 10_000 } },
  ],
  observe(event) {
    if (event.type === 'token.renewed') {
      events.add(`token renewed: ${event.reason}`)
      secrets.add(credentials[event.issuer as 'general'].clientSecret)
      void tokens.getToken(event.issuer as 'general').then(
        ({ value }) => secrets.add(value),
        () => {},
      )
    } else if (event.type === 'renewal.failed') {
      const { code, status, oauthError, transportCode } = event
      events.add(`renewal failed: ${code} ${oauthError ?? transportCode ?? status ?? ''}`.trim())
    } else if (!event.type.startsWith('call.')) events.add(event.type)
  },
})
const clients = createClients(tokens)

const until = performance.now() + Number(seconds) * 1_000
const plan = playFaults({ service, random: new Random(Number(seed)), credentials }, until)
const calling = runCallers({
  seed: Number(seed),
  send: clients.send,
  apis,
  outside,
  until,
  started: (call) => account.start(call),
  ended(call, outcome, began, error) {
    account.end(call, outcome, performance.now() - began)
    service.ended({ ...call, outcome })
    secrets.look(`${call.client}: ${outcome}`, error)
    if (outcome === 'ok' || outcome === 'given up by its caller') return
    const explanation = explanationOf(outcome)
    if (explanation !== undefined && plan.feltSince(began - explanation.within, explanation.faults)) return
    if (unexplained.length < 20) unexplained.push(`${call.client} ${call.kind} ${call.realm}: ${outcome}`)
  },
})

await sleep(Math.min(20_000, Number(seconds) * 300))
const heapAtStart = heapUsed()
await plan.played
await calling
await service.ask('calm')
const closed = await Promise.race([
  tokens.close().then(() => true),
  sleep(longestClose, false, { ref: false }),
])
const { apis: left } = tokens.status()
await clients.close()
const found = await service.ask('findings')
await service.ask('close')
await service.gone
// idle connections of fetch end by themselves
await sleep(6_000)

const result: Result = {
  account,
  secrets,
  events,
  unexplained,
  notClosed: closed ? [] : left,
  faults: plan.counts,
  heap: { start: heapAtStart, end: heapUsed() },
  handles: { before: handlesBefore, after: handles() },
  found,
}
print(result)
const broken = brokenBy(result)
for (const line of broken) console.log(`BROKEN ${line}`)
console.log(broken.length === 0 ? '\nEvery invariant holds.' : `\n${broken.length} broken.`)
process.exitCode = broken.length === 0 ? 0 : 1
