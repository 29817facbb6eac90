// Long: a process for each page, which runs its blocks against the sandbox and Redis.
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages, writeBlocks } from './blocks.ts'

let sandbox: Sandbox
let redis: RedisServer
let folder: URL
beforeAll(async () => {
  ;[sandbox, redis] = await Promise.all([startSandbox(), startRedis()])
  folder = writeBlocks('run', here)
  writeFileSync(new URL('ca.pem', folder), sandbox.ca)
  mkdirSync(new URL('secrets/', folder))
  for (const [field, text] of Object.entries(sandbox.credentials.general))
    writeFileSync(new URL(`secrets/${field}`, folder), `${text}\n`)
  for (const { file, blocks } of pages) {
    // one process runs all blocks of a page, one after the other
    const imports = blocks.map((_, index) => `await import('./${file}-${index + 1}.ts')\n`)
    writeFileSync(new URL(`${file}.ts`, folder), imports.join(''))
  }
})
afterAll(async () => {
  await Promise.all([sandbox.close(), redis.close()])
  rmSync(folder, { recursive: true, force: true })
})

/** The sandbox and a Redis in the place of the hosts and secrets that the pages make up. */
function here(code: string): string {
  return (
    code
      .replaceAll('https://weblink-auth.example.com', sandbox.weblinkAuthUrl)
      .replaceAll('https://weblink.example.com/api/', sandbox.weblinkUrl)
      .replaceAll('https://login.example.com/oauth2/token', `${sandbox.authUrl}/public/security/v1/token`)
      .replaceAll('https://reports.example.com/', sandbox.apiUrl)
      .replaceAll('https://auth.example.com', sandbox.authUrl)
      .replaceAll('https://api.example.com/', sandbox.apiUrl)
      .replaceAll('redis://redis.example.com:6379', redis.url)
      .replaceAll('/run/secrets/general', new URL('generated/run/secrets', import.meta.url).pathname)
      // read and not used: its tests make a certificate
      .replaceAll('/run/secrets/client.pfx', new URL('generated/run/ca.pem', import.meta.url).pathname)
      // a server that its page stops by SIGTERM
      .replace('.listen(3_000)', '.listen(0).unref()')
      // a suite can be registered in a test runner only
      .replace(/^conformance\(/m, 'export const suite = (): void => conformance(')
  )
}

/** Runs a file of the folder as an application that is configured for the sandbox. */
function run(file: string): Promise<{ status: unknown; output: string }> {
  const { general, weblink } = sandbox.credentials
  const { promise, resolve } = Promise.withResolvers<{ status: unknown; output: string }>()
  const env = {
    ...process.env,
    NODE_EXTRA_CA_CERTS: new URL('ca.pem', folder).pathname,
    // every process loads the same packages
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? new URL('compiled', folder).pathname,
    GENERAL_CLIENT_ID: general.clientId,
    GENERAL_CLIENT_SECRET: general.clientSecret,
    REPORTS_CLIENT_ID: general.clientId,
    REPORTS_CLIENT_SECRET: general.clientSecret,
    WEBLINK_CLIENT_ID: weblink.clientId,
    WEBLINK_CLIENT_SECRET: weblink.clientSecret,
  }
  // not synchronously: this process serves the sandbox
  execFile(process.execPath, [new URL(file, folder).pathname], { env }, (error, stdout, stderr) =>
    resolve({ status: error === null ? 0 : error.code, output: stdout + stderr }),
  )
  return promise
}

test.concurrent.each(pages)('the $blocks.length blocks of $page run', async ({ file }) => {
  const { general, weblink } = sandbox.credentials
  const { status, output } = await run(`${file}.ts`)
  expect(status, output).toBe(0)
  for (const secret of [general.clientSecret, weblink.clientSecret]) expect(output).not.toContain(secret)
})
