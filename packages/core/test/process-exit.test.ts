import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { useServer } from './use-server.ts'

// A real process, since only that shows what keeps one alive. It ends when it ends: a busy machine may need long.
const tool = fileURLToPath(new URL('one-call.ts', import.meta.url))
const run = promisify(execFile)

const server = useServer((request, response) => {
  const { url = '', headers } = request
  request.resume().on('end', () => {
    if (url.startsWith('/busy')) return response.writeHead(503, { 'retry-after': '240' }).end()
    if (!url.startsWith('/api/'))
      return response.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', expires_in: 3_600 }))
    return response.end(headers.authorization === 'Bearer a' ? 'records' : 'no token')
  })
})

test('a tool that makes one call exits by itself, and no timer is left', async () => {
  const { stdout, stderr } = await run(process.execPath, [tool, server.url])
  expect({ stdout, stderr }).toEqual({ stdout: 'token.renewed\ncall.finished\nrecords\n[]\n', stderr: '' })
})

test('nor does a pause hold it that no call waits for any more', async () => {
  const { stdout, stderr } = await run(process.execPath, [tool, server.url, 'busy'])
  expect({ stdout, stderr }).toEqual({
    stdout: 'renewal.failed\ncall.finished\nAbortError\n[]\n',
    stderr: '',
  })
})

test('nor does a call hold it that waits for the slot of one that never ends', async () => {
  const { stdout, stderr } = await run(process.execPath, [tool, server.url, 'blocked'])
  expect({ stdout, stderr }).toEqual({ stdout: 'token.renewed\ncall.sent\ncall.queued\n', stderr: '' })
})

test('the import needs nothing of the runtime that only some managers use', async () => {
  const entry = new URL('../src/index.ts', import.meta.url).href
  const script = `delete globalThis.crypto; await import('${entry}')`
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', script])
  expect(stderr).toBe('')
})

const program = `
  import { once } from 'node:events'
  import { createServer } from 'node:net'
  import { tokensFor } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const tokens = tokensFor({
    tokenEndpoint: 'https://127.0.0.1:' + server.address().port,
    credentials: { clientId: 'client', clientSecret: 'secret' },
    baseUrl: 'https://api.example.com/',
    maxWait: 1_000,
  })
  await tokens.getToken('default').catch(({ code }) => console.log(code))
  server.close()`

test('a process that accepts any certificate is told once, by Node, however often a token is requested', () => {
  const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '' }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  })
  expect(stdout).toBe('TOKEN_REQUEST_FAILED\n')
  expect(stderr.match(/Warning: .*NODE_TLS_REJECT_UNAUTHORIZED/g)).toHaveLength(1)
})
