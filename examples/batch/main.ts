import { parseArgs } from 'node:util'
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { kyTokens } from '@tokenlane/ky'
import ky from 'ky'
import { createBar } from './bar.ts'

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '100000' }, callers: { type: 'string', default: '50' } },
})
const total = Number(values.pages)
const { AUTH_URL = '', API_URL = '' } = process.env

const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL'), maxWait: 600_000 }),
  },
  apis: [{ baseUrl: API_URL, issuer: 'general', ratePolicy: { limits: [{ quota: 25, window: 1_000 }] } }],
})
const api = ky.create({ prefix: API_URL }).extend(kyTokens(tokens))

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const bar = createBar(process.stderr, total)
const pages = Array.from({ length: total }, (_, index) => index + 1).values()
const failed: number[] = []

async function caller(): Promise<void> {
  for (const page of pages) {
    if (stop.signal.aborted) return
    try {
      const answer = await api.get('records', { searchParams: { page }, signal: stop.signal }).json()
      process.stdout.write(`${JSON.stringify(answer)}\n`)
    } catch (error) {
      if (stop.signal.aborted) return
      failed.push(page)
      bar.tell(`page ${page}: ${error instanceof Error ? error.message : String(error)}`)
    }
    bar.step()
  }
}
await Promise.all(Array.from({ length: Number(values.callers) }, caller))
bar.end()
await tokens.close()

if (failed.length > 0) console.error(`failed: ${failed.join(' ')}`)
process.exitCode = stop.signal.aborted ? 130 : failed.length > 0 ? 1 : 0
