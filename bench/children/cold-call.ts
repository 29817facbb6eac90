// The first call of a process: import, manager or client, token, call.
import tls from 'node:tls'

import type { CreatePeer } from '../support/peer.ts'
import type { ServicePlace } from './http-service.ts'

export interface ColdCallOrder {
  /** The file and the export of `peers/`. */
  readonly file: string
  readonly name: string
  readonly service: ServicePlace
}

/** In milliseconds. */
export interface ColdCallFigures {
  readonly time: number
  readonly cpu: number
}

const { file, name, service } = JSON.parse(process.argv[2] ?? '') as ColdCallOrder
const { url, ca } = service
if (ca !== undefined) tls.setDefaultCACertificates([ca])
const start = performance.now()
const cpuStart = process.cpuUsage()
const { [name]: create } = (await import(`../peers/${file}`)) as Record<string, CreatePeer>
const peer = create?.({
  fetch: globalThis.fetch,
  tokenUrl: `${url}token`,
  apiUrl: `${url}api/records/7`,
  clientId: 'client',
  clientSecret: 'secret',
})
const status = await peer?.call()
if (status !== 200) throw new Error(`Cannot measure: the call ended with ${status}`)
const { user, system } = process.cpuUsage(cpuStart)
const figures: ColdCallFigures = { time: performance.now() - start, cpu: (user + system) / 1_000 }
console.log(JSON.stringify(figures))
process.exit()
