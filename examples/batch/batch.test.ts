import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { runProgram } from '@tokenlane/testing/example-programs'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({
    // a shorter window than the batch keeps: either process may stand still on a busy machine
    ratePolicies: { general: { limits: [{ quota: 25, window: 600 }], retryAfter: true } },
  })
})
afterAll(() => sandbox.close())

const run = (...args: string[]) => runProgram(new URL('main.ts', import.meta.url), sandbox, args)

test('a token that ends and an issuer that fails in mid-run cost no page, and the last line says what was read', async () => {
  const batch = run('--pages', '40')
  const ended = once(batch, 'exit')
  const [pages, told] = [text(batch.stdout), text(batch.stderr)]
  await vi.waitFor(() => expect(sandbox.control.counts().apis.general.calls).toBeGreaterThan(5))
  sandbox.control.failIssuer('general', { status: 503, times: 1 })
  sandbox.control.expireTokens('general')

  expect(await ended).toEqual([0, null])
  const read = (await pages)
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { page: number }).page)
  expect(read.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  expect(sandbox.control.counts().apis.general).toMatchObject({ limited: 0 })
  expect(await told).toMatch(/40 of 40 pages in \d+ s\n$/)
})

test('a page that fails is named, and costs no other', async () => {
  sandbox.control.failApi('general', { status: 400, times: 1 })
  const batch = run('--pages', '3', '--callers', '1')
  const ended = once(batch, 'exit')
  const [pages, told] = await Promise.all([text(batch.stdout), text(batch.stderr)])
  expect(await ended).toEqual([1, null])
  expect(pages.trim().split('\n')).toHaveLength(2)
  expect(told).toMatch(/^page 1: .*400[^]*3 of 3 pages in \d+ s\nfailed: 1\n$/)
})

test('Ctrl-C ends the line at once', async () => {
  sandbox.control.resetCounts()
  const batch = run()
  const ended = once(batch, 'exit')
  batch.stdout.resume()
  await vi.waitFor(() => expect(sandbox.control.counts().apis.general.calls).toBeGreaterThan(0))
  batch.kill('SIGINT')
  expect(await ended).toEqual([130, null])
})
