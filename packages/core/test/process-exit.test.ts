import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

// A real process, since only that shows what keeps one alive. It ends when it ends: a busy machine may need long.
const patience = { timeout: 60_000 }
const tool = fileURLToPath(new URL('one-call.ts', import.meta.url))
const run = promisify(execFile)

const server = createServer((request, response) => {
  const { url = '', headers } = request
  request.resume().on('end', () => {
    if (url.startsWith('/busy')) return response.writeHead(503, { 'retry-after': '240' }).end()
    if (!url.startsWith('/api/'))
      return response.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', expires_in: 3_600 }))
    return response.end(headers.authorization === 'Bearer a' ? 'records' : 'no token')
  })
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

test('a tool that makes one call exits by itself, and no timer is left', patience, async () => {
  const { stdout, stderr } = await run(process.execPath, [tool, url])
  expect({ stdout, stderr }).toEqual({ stdout: 'token.renewed\nrecords\n[]\n', stderr: '' })
})

test('nor does a pause hold it that nobody waits for any more', patience, async () => {
  const { stdout, stderr } = await run(process.execPath, [tool, url, 'busy'])
  expect({ stdout, stderr }).toEqual({ stdout: 'renewal.failed\nAbortError\n[]\n', stderr: '' })
})
