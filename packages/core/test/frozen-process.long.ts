// Long: a process that is really frozen for seconds, in each state in which a call waits.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

const states = {
  'for the first response of the issuer': { wait: 'token', frozenAt: '/token' },
  'between two tries, since the issuer was down': { wait: 'busy', frozenAt: '/token' },
  'in the queue': { wait: 'queue', frozenAt: '/api/x' },
  'for the end of a pause': { wait: 'pause', frozenAt: '/api/x' },
  'for the end of the first of two pauses, with a `maxWait` shorter than that': {
    wait: 'refused',
    frozenAt: '/api/x',
  },
}

test.concurrent.for(Object.entries(states))(
  'a process that is frozen for 8 s while calls wait %s loses none',
  // that of the test: of concurrent ones, the function that is imported takes any
  async ([, { wait, frozenAt }], { onTestFinished }) => {
    const arrived = Promise.withResolvers<void>()
    let requests = 0
    const server = createServer((request, response) => {
      request.resume()
      if (request.url === frozenAt) {
        requests += 1
        arrived.resolve()
      }
      const isFirst = request.url === frozenAt && requests === 1
      if (request.url === '/token') {
        if (wait === 'busy' && isFirst) return response.writeHead(503).end()
        const body = JSON.stringify({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
        const respond = (): unknown => response.setHeader('content-type', 'application/json').end(body)
        return wait === 'token' ? setTimeout(respond, 500) : respond()
      }
      // all calls, and the one that tries after the pause
      const isRefused = wait === 'refused' && requests <= 4
      if ((wait === 'pause' && isFirst) || isRefused)
        return response.writeHead(429, { 'retry-after': '2', 'ratelimit-policy': '"a";q=3;w=1' }).end()
      return response.end('ok')
    }).listen(0, '127.0.0.1')
    // what becomes of a connection that the server closes meanwhile is for the client to know
    server.keepAliveTimeout = 60_000
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const child = fork(new URL('frozen-process.ts', import.meta.url), [url, wait])
    onTestFinished(() => {
      child.kill('SIGKILL')
      server.close()
    })
    const outcome = once(child, 'message')
    await arrived.promise
    child.kill('SIGSTOP')
    await sleep(8_000)
    child.kill('SIGCONT')
    expect((await outcome)[0]).toEqual([200, 200, 200])
    child.send('once more')
    expect((await once(child, 'message'))[0]).toBe(200)
  },
)
