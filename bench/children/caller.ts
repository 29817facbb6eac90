// One variant of one client in a process of its own, so that no other variant shapes its compiled code. Makes calls
// whenever it is asked to.
import tls from 'node:tls'

import type { ServicePlace } from './http-service.ts'
import { orderGiven } from '../support/child.ts'
import { measure, type Round } from '../support/round.ts'
import { settingAt, type Variants, type VariantName } from '../support/variants.ts'

// no other client is loaded
const clients = {
  axios: async () => (await import('../callers/axios.ts')).variantsOfAxios,
  got: async () => (await import('../callers/got.ts')).variantsOfGot,
  ky: async () => (await import('../callers/ky.ts')).variantsOfKy,
  fetch: async () => (await import('../callers/fetch.ts')).variantsOfFetch,
  undici: async () => (await import('../callers/undici.ts')).variantsOfUndici,
}

export type Client = keyof typeof clients

export interface CallerOrder {
  readonly client: Client
  readonly variant: VariantName
  readonly service: ServicePlace
}

const order = await orderGiven<CallerOrder>()
const { url, ca } = order.service
if (ca !== undefined) tls.setDefaultCACertificates([ca])
const variantsOf = await clients[order.client]()
const variants: Variants = variantsOf(await settingAt(url))
const call = variants[order.variant]
if (call !== undefined)
  process.on('message', (round) => {
    void measure(call, round as Round).then((figure) => process.send?.(figure))
  })
// with what there is, so that the parent need not know what each client has
process.send?.(Object.keys(variants))
process.on('disconnect', () => process.exit())
