// An issuer and an API on loopback, in a process of their own, so that the clients' load does not delay the server.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const record = JSON.stringify({ id: 7, name: 'A business record', lines: [1, 2, 3], total: 42.5 })
const token = JSON.stringify({
  access_token: 'token-'.padEnd(200, 'x'),
  token_type: 'Bearer',
  expires_in: 3_600,
})

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.setHeader('content-type', 'application/json')
    const isToken = request.url === '/token'
    // the first of a bare client's calls tells that it measures what it should
    response.statusCode =
      isToken || request.url?.startsWith('/open/') || request.headers.authorization ? 200 : 401
    response.end(isToken ? token : record)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () =>
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
)
process.on('disconnect', () => process.exit())
