import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createTokenManager, oauthIssuer } from '../../src/index.ts'
import { useTlsServer } from '../authorization-servers/start.ts'

// Gateways compress token responses whatever was asked for. With a client certificate, no `fetch` unpacks them.

const encodings: Readonly<Record<string, (text: string) => Uint8Array>> = {
  gzip: gzipSync,
  'X-GZip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  'gzip, br': (text) => brotliCompressSync(gzipSync(text)),
  identity: (text) => Buffer.from(text),
}

const server = useTlsServer(
  (request, response) => {
    const encoding = decodeURIComponent(request.url?.slice(1) ?? '')
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-encoding', encoding)
    response.end(encodings[encoding]?.(JSON.stringify({ access_token: 'token-1', expires_in: 60 })))
  },
  { requestCert: true },
)

test.each(Object.keys(encodings))('a token response in %s is read with mutual TLS', async (encoding) => {
  const { cert: certificate, key: privateKey } = await server.certificate('reports')
  const tokens = createTokenManager({
    issuers: {
      reports: oauthIssuer({
        tokenEndpoint: `${server.url}/${encodeURIComponent(encoding)}`,
        clientAuthentication: 'tls_client_auth',
        credentials: { clientId: 'reports', certificate, privateKey },
      }),
    },
    apis: [],
  })
  await expect(tokens.getToken('reports')).resolves.toMatchObject({ value: 'token-1' })
  await tokens.close()
})
