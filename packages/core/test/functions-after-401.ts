// Prints which functions of core run from a 401 until the call is sent again, as the coverage of V8 sees them, for calls one
// after the other: `node functions-after-401.ts`.
import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { createTokenManager } from '../src/index.ts'

let issued = 0
const tokens = createTokenManager({
  async fetch() {
    issued += 1
    return Response.json({ access_token: `token-${issued}`, token_type: 'Bearer', expires_in: 3_600 })
  },
  issuers: {
    general: {
      tokenEndpoint: 'https://auth.example.com/token',
      credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
    },
  },
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
})
const session = new Session()
session.connect()
await session.post('Profiler.enable')

async function afterRefusal(): Promise<string[]> {
  let functions: string[] = []
  let sends = 0
  await tokens.route('https://api.example.com/')?.send(async () => {
    sends += 1
    if (sends === 1) await session.post('Profiler.startPreciseCoverage', { callCount: true })
    else {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      functions = result
        .filter(({ url }) => url.includes('/core/src/'))
        .flatMap((script) =>
          script.functions
            // a function is counted where it is defined, the module itself not at all
            .filter(({ ranges: [whole] }) => whole !== undefined && whole.count > 0 && whole.startOffset > 0)
            .map(({ functionName, ranges }) =>
              [script.url.split('/core/src/')[1], functionName, ranges[0]?.startOffset].join(' '),
            ),
        )
      await session.post('Profiler.stopPreciseCoverage')
    }
    return { status: sends === 1 ? 401 : 200, result: undefined, discard: async () => {} }
  })
  return functions.toSorted()
}

const runs: string[][] = []
for (let call = 0; call < 4; call += 1) {
  runs.push(await afterRefusal())
  // until the next renewal is due
  await sleep(1_100)
}
await tokens.close()
// the first one reads what is read once
console.log(JSON.stringify(runs.slice(1)))
