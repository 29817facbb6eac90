import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Hono } from 'hono'
import { afterAll, expect, test } from 'vitest'

import { consolePage, securityHeaders } from './console-page.ts'

const folder = mkdtempSync(join(tmpdir(), 'console-'))
afterAll(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html>')
writeFileSync(join(folder, 'assets/page.js'), 'export {}')
const find = (path: string, from = folder) => new Hono().use(securityHeaders, consolePage(from)).request(path)

test.each([
  ['/', 'text/html; charset=utf-8', '<!doctype html>'],
  ['/index.html', 'text/html; charset=utf-8', '<!doctype html>'],
  ['/assets/page.js', 'text/javascript; charset=utf-8', 'export {}'],
])('%s is there with its type', async (path, type, text) => {
  const response = await find(path)
  expect(response.headers.get('content-type')).toBe(type)
  expect(await response.text()).toBe(text)
})

test.each(['/other.js', '/assets', '/assets/', '/../console-page.ts', '/assets/../../etc/passwd'])(
  '%s is not there',
  async (path) => {
    expect((await find(path)).status).toBe(404)
  },
)

test('the page may run and load nothing but its own files, and be shown in no frame', async () => {
  const policy = (await find('/')).headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
})

test('a page that was not built has no files', async () => {
  expect((await find('/', join(folder, 'nothing'))).status).toBe(404)
})
