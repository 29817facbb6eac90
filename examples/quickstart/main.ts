// Reads tens of thousands of records from two APIs through four clients, as fast as each API allows, while tokens
// expire and are revoked, a secret is rotated and an issuer is down for a while. Ends with status 0 only if no
// call was lost, no token was requested needlessly, no API was called too fast, and the sandbox found nothing wrong.
import { once } from 'node:events'
import tls from 'node:tls'
import { parseArgs } from 'node:util'
import { startSandbox, type Realm } from '@tokenlane/sandbox'
import axios from 'axios'
import got from 'got'
import ky from 'ky'

import { anyKey, bar, canPressKey, secondsLeft, showProgress } from './progress.ts'
import { bootstrap, type Clients } from './bootstrap.ts'
import { createHistory, inWords, takeDown } from './history.ts'
import { opening, paceOf } from './pace.ts'
import { createReading, readers, readPages } from './reader.ts'
import { faults, report, type Lane, type Outcome } from './report.ts'
import { unfold } from './story.ts'
import { countingAdapter, countingFetch, countingRequest, createWire } from './wire.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, watch: { type: 'boolean', default: false } },
})
// somebody who can open the sandbox's console
const hasWatcher = values.watch || process.stdout.isTTY
const duration = Number(values.seconds) * 1_000
const lifetime = duration / 5
const { ratePolicies, pages } = paceOf(duration)
const realms = ['general', 'weblink'] as const

// The business service, on this machine; yours is elsewhere.
const sandbox = await startSandbox({
  tokenLifetime: lifetime,
  records: 20_000,
  delays: { min: 2, max: 30 },
  control: hasWatcher,
  // it counts on its own how fast it is called
  ratePolicies: {
    general: { limits: ratePolicies.general.limits },
    weblink: { limits: ratePolicies.weblink.limits },
  },
})
console.log(`${opening({ duration, lifetime, ratePolicies, pages })}\n`)
if (hasWatcher) console.log(`Watch it: ${sandbox.consoleUrl}\n`)
// Only for the sandbox, which has a certificate authority of its own.
tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])

// Your clients. What these really send is counted beneath Tokenlane.
const wire = () => createWire((url) => (url.startsWith(sandbox.weblinkUrl) ? 'weblink' : 'general'))
const wires = { fetch: wire(), axios: wire(), got: wire(), ky: wire() }
const bare: Clients = {
  fetch: countingFetch(wires.fetch),
  axios: axios.create({ adapter: countingAdapter(wires.axios) }),
  got: got.extend({ request: countingRequest(wires.got) }),
  ky: ky.create({ fetch: countingFetch(wires.ky) }),
}

// Tokenlane: from here on, all clients send the right token.
const histories = { general: createHistory(), weblink: createHistory() }
const { tokens, clients } = bootstrap({
  service: sandbox,
  // asked before each token request, as a file or a vault would be
  credentials: {
    general: () => sandbox.credentials.general,
    weblink: () => sandbox.credentials.weblink,
  },
  ratePolicies,
  clients: bare,
  observe(event) {
    if ('issuer' in event) takeDown(histories[event.issuer as Realm], event)
    const happening = inWords(event)
    if (happening !== undefined) progress.tell(happening.text, happening.tone)
  },
})

// The application: each client reads its share of the pages of both APIs.
const getPage = readers(clients)
const names = ['fetch', 'axios', 'got', 'ky'] as const
const lanes: Lane[] = realms.flatMap((api) =>
  names.map((client) => ({ api, client, reading: createReading(), sent: wires[client].sent[api] })),
)
const share = (api: Realm, client: string): number[] =>
  Array.from({ length: pages[api] }, (_, index) => index + 1).filter(
    (page) => names[page % names.length] === client,
  )

const progress = showProgress(process.stdout, () => {
  const bars = realms.map((api) => {
    const done = lanes.reduce((sum, lane) => sum + (lane.api === api ? lane.reading.answered : 0), 0)
    return bar(api, done, pages[api])
  })
  const left = secondsLeft(tokens.status().apis.map(({ emptyAt }) => emptyAt))
  return `${bars.join('  ')} calls, ${left} s left`
})

// Everybody reads, and the story takes its course.
const baseUrls = { general: sandbox.apiUrl, weblink: sandbox.weblinkUrl }
const reading = lanes.map(({ api, client, reading: own }) =>
  readPages(getPage[client], { baseUrl: baseUrls[api], pages: share(api, client), reading: own }),
)
await unfold(sandbox.control, { duration, histories, tell: progress.tell })
await Promise.all(reading)
await tokens.close()
progress.end()

const quotasOf = (api: Realm): number[] => ratePolicies[api].limits.map(({ quota }) => quota)
const quotas = { general: quotasOf('general'), weblink: quotasOf('weblink') }
const counts = sandbox.control.counts()
const verdict = sandbox.control.verdict()
const outcome: Outcome = { lanes, histories, lifetime, quotas, counts, verdict }
console.log(`\n${report(outcome)}`)
if (canPressKey()) {
  console.log(`\nThe page stays open until you press a key: ${sandbox.consoleUrl}`)
  await anyKey()
} else if (values.watch) {
  console.log(`\nThe page stays open until Ctrl-C: ${sandbox.consoleUrl}`)
  await once(process, 'SIGINT')
}
await sandbox.close()
process.exitCode = faults(outcome).length === 0 ? 0 : 1
