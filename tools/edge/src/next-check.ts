// Builds the example for Next.js with Next.js from npm, and makes its calls: `pnpm --dir tools/edge next`. Needs npm's registry.
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

import { startSandbox } from '@tokenlane/sandbox'

import { buildNextApp } from './next-app.ts'

await using sandbox = await startSandbox({ records: 30 })
const { control } = sandbox
using app = await buildNextApp(sandbox)
control.resetCounts()
await inProduction()
control.resetCounts()
await inDevelopment()

async function inProduction(): Promise<void> {
  await using server = await app.serve('start')
  const must = callerOf(server.origin)
  for (const path of ['/records', '/records', '/forced', '/forced', '/revalidated']) await must(path)
  says('a server requests one token when it starts, for all of its routes', 1)

  await Promise.all(Array.from({ length: 20 }, () => must('/edge')))
  says('20 first calls of the edge runtime request one more', 2)

  for (const renewals of [1, 2]) {
    control.revokeTokens('general')
    await must('/forced')
    says(`a route that caches every fetch gets a new token, ${renewals} of 2`, 2 + renewals)
  }
  control.revokeTokens('general')
  await must('/edge')
  says('a revoked token is renewed in the edge runtime', 5)
}

async function inDevelopment(): Promise<void> {
  await using server = await app.serve('dev')
  const must = callerOf(server.origin)
  await must('/records')
  for (const change of [1, 2]) {
    appendFileSync(join(app.folder, 'lib', 'api.ts'), `\nexport const change${change} = ${change}\n`)
    appendFileSync(join(app.folder, 'app', 'records', 'route.ts'), `\n// change ${change}\n`)
    await must('/records')
  }
  says('a development server that loads its modules again keeps its manager', 1)
}

function callerOf(origin: string): (path: string) => Promise<void> {
  return async (path) => {
    const response = await fetch(origin + path)
    assert.equal(response.status, 200, `${path}: ${await response.text()}`)
  }
}

function says(what: string, tokenRequests: number): void {
  assert.equal(control.counts().issuers.general.requests, tokenRequests, what)
  console.log(`${what}: holds`)
}
