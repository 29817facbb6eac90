import { createTokenManager } from '../src/index.ts'

// An application that `frozen-process.long.ts` freezes. It says what becomes of each call.

const [url = '', waiting] = process.argv.slice(2)
const tokens = createTokenManager({
  issuers: {
    a: {
      tokenEndpoint: `${url}/token`,
      credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
      allowInsecureLoopback: true,
      maxWait: 2_000,
    },
  },
  apis: [
    {
      baseUrl: `${url}/api/`,
      issuer: 'a',
      ratePolicy: {
        limits:
          { queue: [{ quota: 1, window: 1_000 }], refused: [{ quota: 3, window: 1_000 }] }[waiting ?? ''] ??
          [],
        maxWait: waiting === 'refused' ? 6_000 : 20_000,
      },
    },
  ],
})

const call = async (): Promise<unknown> =>
  tokens
    .route(`${url}/api/x`)
    ?.send(async (authorization) => {
      const response = await fetch(`${url}/api/x`, { headers: { authorization } })
      const header = (name: string): string | undefined => response.headers.get(name) ?? undefined
      return { status: response.status, header, result: response.status, discard() {} }
    })
    .catch((error: Error) => error.message)

process.on('message', () => void call().then((outcome) => process.send?.(outcome)))
const first = Array.from({ length: 3 }, () => call())
process.send?.(await Promise.all(first))
