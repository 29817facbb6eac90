// One peer in one scene against a sandbox, in a process of its own.
import { peers } from '../peers/all.ts'
import { scenes } from './scenes.ts'

export interface Part {
  readonly peer: string
  readonly scene: string
  readonly tokenUrl: string
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly controlUrl: string
  readonly controlToken: string
}

const part = await new Promise<Part>((resolve) => {
  process.once('message', (message) => resolve(message as Part))
})
const create = peers[part.peer]
const scene = scenes[part.scene]
if (create === undefined || scene === undefined) throw new Error('Cannot play: no such peer or scene')
// a peer's own business
process.on('unhandledRejection', () => {})

const { tokenUrl, baseUrl, clientId, clientSecret, controlUrl, controlToken } = part
const limits = scene.quota === undefined ? undefined : [{ quota: scene.quota, window: 1_000 }]
let calls = 0
const nextUrl = (): string => `${baseUrl}records/INV-${String((calls += 1)).padStart(7, '0')}`
await scene.play({
  peer: create({
    fetch: globalThis.fetch,
    tokenUrl,
    apiUrl: `${baseUrl}records/INV-0000001`,
    clientId,
    clientSecret,
    scope: 'WebLinkAPI',
    ...(limits && { ratePolicy: { limits } }),
  }),
  nextUrl,
  async control(name, parameters) {
    const headers = { authorization: `Bearer ${controlToken}` }
    const body = JSON.stringify(parameters)
    await fetch(`${controlUrl}/v1/${name}`, { method: 'POST', headers, body })
  },
})
process.send?.('played', () => process.exit())
