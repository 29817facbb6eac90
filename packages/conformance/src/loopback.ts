import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A plain server of this machine, which ends with all of its connections. */
export interface Loopback extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly origin: string
}

export async function listen(
  respond: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Loopback> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
