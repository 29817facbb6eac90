// Prints whether the responses of the process are listened to: with managers, after one is closed, and after another one,
// which was never closed, is dropped.
import { hasSubscribers } from 'node:diagnostics_channel'
import { setImmediate } from 'node:timers/promises'

import { tokensFor, type TokenManager } from '../src/index.ts'

const isListening = (): string =>
  ['http.client.response.finish', 'undici:request:headers'].map((name) => hasSubscribers(name)).join()

const create = (): TokenManager<'default'> =>
  tokensFor({
    tokenEndpoint: 'https://auth.example.com/token',
    credentials: { clientId: 'client', clientSecret: 'secret' },
    baseUrl: 'https://api.example.com/',
  })

console.log(isListening())
const used: { tokens?: TokenManager<'default'> } = { tokens: create() }
await create().close()
global.gc!()
await setImmediate()
console.log(isListening(), used.tokens?.status().apis.length)
delete used.tokens
// finalizers run when the engine likes
for (let round = 0; round < 100 && isListening() !== 'false,false'; round += 1) {
  global.gc!()
  await setImmediate()
}
console.log(isListening())
