import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import {
  cold,
  revoked,
  revokedWhileDown,
  sources,
  tenTransports,
  type Cost,
  type CreateSource,
} from './situations.ts'

// What the guide's table says is what the servers count. A row of it is: situation, then token requests, discovery
// requests, refused calls and lost calls, each of the official provider and of Tokenlane.
const page = readFileSync(
  new URL('../../docs/guide/mcp.md', import.meta.url),
  'utf8',
)
const rows = Array.from(page.matchAll(/^\|(.*)\|$/gm), ([, row = '']) =>
  row.split('|').map((cell) => cell.trim().replaceAll('*', '')),
)

function rowOf(situation: string): string[] {
  const cells = rows.find(([name]) => name === situation)
  if (cells === undefined)
    throw new Error(`docs/guide/mcp.md has no row "${situation}"`)
  return cells.slice(1)
}

const cells = ({ tokenRequests, discoveries, refused, lost }: Cost): string[] =>
  [tokenRequests, discoveries, refused, lost].map(String)

async function measured(
  situation: (create: CreateSource) => Promise<Cost>,
): Promise<string[]> {
  const official = cells(await situation(sources.official))
  const tokenlane = cells(await situation(sources.tokenlane))
  return official.map((cell, index) => `${cell} / ${tokenlane[index]}`)
}

test.each([
  ['50 calls at once, without a token', cold],
  ['50 calls after the token was revoked', revoked],
  ['10 transports connect, with one provider or manager', tenTransports],
] as const)('%s', async (name, situation) => {
  expect(await measured(situation)).toEqual(rowOf(name))
})

test('50 calls after the token was revoked while the issuer is down', async () => {
  const [, ...row] = rowOf('the same, and the issuer is down for 2 s')
  const [tokenRequests = '', ...others] = await measured(revokedWhileDown)
  expect(others).toEqual(row)
  // the official provider does not get beyond its discovery; Tokenlane asks with growing pauses, which are drawn
  const [official, tokenlane] = tokenRequests.split(' / ').map(Number)
  expect(official).toBe(0)
  expect(tokenlane).toBeGreaterThan(1)
  expect(tokenlane).toBeLessThanOrEqual(12)
})
