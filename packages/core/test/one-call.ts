import { createTokenManager, generalIssuer } from '../src/index.ts'

// One call against a server that `process-exit.test.ts` runs, as a command-line tool would make it. Nothing is
// closed and nothing calls `process.exit()`.

const [url = '', how] = process.argv.slice(2)
const caller = new AbortController()
const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({
      authUrl: `${url}${how === 'busy' ? '/busy' : ''}`,
      credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
      allowInsecureLoopback: true,
      maxWait: 3_600_000,
    }),
  },
  apis: [
    {
      baseUrl: `${url}/api/`,
      issuer: 'general',
      ...(how === 'blocked' && { ratePolicy: { limits: [], concurrency: 1 } }),
    },
  ],
  observe: ({ type }) => {
    console.log(type)
    // gives up while the issuer asks for patience
    if (type === 'renewal.failed') caller.abort()
  },
})

if (how === 'blocked') {
  await tokens.warmUp()
  void tokens.route(`${url}/api/`)?.send(() => new Promise<never>(() => {}))
}
const call = tokens.route(`${url}/api/records`)?.send(
  async (authorization) => {
    const response = await fetch(`${url}/api/records`, { headers: { authorization } })
    return { status: response.status, result: await response.text(), discard() {} }
  },
  { signal: caller.signal },
)
if (how !== 'blocked') {
  console.log(await call?.catch((error: Error) => error.name))
  console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => name === 'Timeout')))
}
