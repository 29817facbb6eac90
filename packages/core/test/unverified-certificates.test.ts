import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

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
