// Reads thousands of records from two APIs through two clients, while tokens expire and are revoked, a secret
// is rotated and an issuer is gone for a while. Ends with status 0 only if not one call was lost and not one
// token was requested needlessly.
import tls from 'node:tls'
import { parseArgs } from 'node:util'
import { startSandbox, type Realm } from '@tokenlane/sandbox'
import axios from 'axios'

import { bootstrap } from './bootstrap.ts'
import { createHistory, inWords, takeDown } from './history.ts'
import { showProgress } from './progress.ts'
import { createReading, readRecords, type GetPage, type Page } from './reader.ts'
import { faults, report, type Lane, type Outcome } from './report.ts'
import { unfold } from './story.ts'
import { countingAdapter, countingFetch, createWire } from './wire.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } })
const duration = Number(values.seconds) * 1_000
const lifetime = duration / 5

// The business service, on this machine; yours is elsewhere.
const sandbox = await startSandbox({ tokenLifetime: lifetime, delays: { min: 2, max: 30 } })
// Only for the sandbox, which has a certificate authority of its own.
tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])

// Your clients. What these really send is counted beneath Tokenlane.
const realmOf = (url: string): Realm => (url.startsWith(sandbox.weblinkUrl) ? 'weblink' : 'general')
const fetchWire = createWire(realmOf)
const axiosWire = createWire(realmOf)
const client = axios.create({ adapter: countingAdapter(axiosWire) })

const progress = showProgress(process.stdout, () => {
  const pages = (api: Realm): string =>
    `${api} ${lanes.reduce((sum, lane) => sum + (lane.api === api ? lane.reading.answered : 0), 0)} pages`
  const lost = lanes.reduce((sum, { reading }) => sum + reading.lost.length, 0)
  return `${pages('general')}, ${pages('weblink')}, ${lost} calls lost`
})
const histories = { general: createHistory(), weblink: createHistory() }

// Tokenlane: from here on, both clients send the right token.
const { tokens, fetch } = bootstrap({
  service: sandbox,
  // asked before each token request, as a file or a vault would be
  credentials: {
    general: () => sandbox.credentials.general,
    weblink: () => sandbox.credentials.weblink,
  },
  fetch: countingFetch(fetchWire),
  axios: client,
  observe(event) {
    if ('issuer' in event) takeDown(histories[event.issuer as Realm], event)
    const happening = inWords(event)
    if (happening !== undefined) progress.tell(happening)
  },
})

// The application: it knows nothing of tokens.
const getWithFetch: GetPage = async (url) => {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`status ${response.status}`)
  return (await response.json()) as Page
}
const getWithAxios: GetPage = async (url) => {
  const { data } = await client.get<Page>(url)
  return data
}
const lanes: (Lane & { getPage: GetPage; baseUrl: string })[] = []
for (const [api, baseUrl] of [
  ['general', sandbox.apiUrl],
  ['weblink', sandbox.weblinkUrl],
] as const) {
  const lane = { api, baseUrl }
  lanes.push(
    { ...lane, client: 'fetch', getPage: getWithFetch, reading: createReading(), sent: fetchWire.sent[api] },
    { ...lane, client: 'axios', getPage: getWithAxios, reading: createReading(), sent: axiosWire.sent[api] },
  )
}

// Everybody reads, and the story takes its course.
const over = new AbortController()
const reading = lanes.map((lane) => readRecords(lane.getPage, { ...lane, signal: over.signal }))
await unfold(sandbox.control, { duration, histories, tell: progress.tell })
over.abort()
await Promise.all(reading)
await tokens.close()
progress.end()

const outcome: Outcome = { lanes, histories, lifetime, counts: sandbox.control.counts() }
await sandbox.close()
console.log(`\n${report(outcome)}`)
process.exitCode = faults(outcome).length === 0 ? 0 : 1
