import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** An HTTP server on loopback for the tests of a file; its `url` is there once they begin. */
export function useServer(listener: RequestListener): { readonly url: string } {
  const server = createServer(listener)
  const used = { url: '' }
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    used.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return used
}
