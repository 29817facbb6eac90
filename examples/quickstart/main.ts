// Reads thousands of records from two APIs through two clients, while tokens expire and are revoked, a secret
// is rotated and an issuer is gone for a while. Ends with status 0 only if not one call was lost and not one
// token was requested needlessly.
import tls from 'node:tls'
import { parseArgs } from 'node:util'
import type { TokenlaneEvent } from '@tokenlane/core'
import { startSandbox, type Realm } from '@tokenlane/sandbox'
import axios from 'axios'

import { bootstrap } from './bootstrap.ts'
import { createHistory, takeDown } from './history.ts'
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

// Your clients. These count what they really send, beneath Tokenlane.
const realmOf = (url: string): Realm => (url.startsWith(sandbox.weblinkUrl) ? 'weblink' : 'general')
const wires = { fetch: createWire(realmOf), axios: createWire(realmOf) }
const client = axios.create({ adapter: countingAdapter(wires.axios) })

const histories = { general: createHistory(), weblink: createHistory() }
const observe = (event: TokenlaneEvent): void => {
  if ('issuer' in event) takeDown(histories[event.issuer as Realm], event)
  const happening = inWords(event)
  if (happening !== undefined) progress.tell(happening)
}

// Tokenlane: from here on, both clients send the right token.
const { tokens, fetch } = bootstrap({
  service: sandbox,
  // asked before each token request, as it would be to read a file or a vault
  credentials: {
    general: () => sandbox.credentials.general,
    weblink: () => sandbox.credentials.weblink,
  },
  fetch: countingFetch(wires.fetch),
  axios: client,
  observe,
})

// The application: it knows nothing of tokens.
const getPage: Record<keyof typeof wires, GetPage> = {
  async fetch(url) {
    const response = await fetch(url)
    if (!response.ok) throw new Error(`status ${response.status}`)
    return (await response.json()) as Page
  },
  async axios(url) {
    const { data } = await client.get<Page>(url)
    return data
  },
}
const lane = (api: Realm, name: keyof typeof wires): Lane => ({
  api,
  client: name,
  reading: createReading(),
  sent: wires[name].sent[api],
})
const lanes = [
  lane('general', 'fetch'),
  lane('general', 'axios'),
  lane('weblink', 'fetch'),
  lane('weblink', 'axios'),
]
