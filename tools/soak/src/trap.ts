// An origin that belongs to no API: whatever Authorization arrives here is a token astray.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Trap {
  readonly url: string
  readonly requests: number
  /** How many of them brought an `Authorization` header. */
  readonly astray: number
  close(): void
}

export async function openTrap(): Promise<Trap> {
  const trap = { url: '', requests: 0, astray: 0, close: () => void server.close() }
  const server = createServer((request, response) => {
    trap.requests += 1
    if (request.headers.authorization !== undefined) trap.astray += 1
    request.resume()
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  trap.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return trap
}
