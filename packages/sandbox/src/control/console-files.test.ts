import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { createConsoleFiles } from './console-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'console-'))
afterAll(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html>')
writeFileSync(join(folder, 'assets/page.js'), 'export {}')
const find = createConsoleFiles(folder)

test.each([
  ['/', 'text/html; charset=utf-8', '<!doctype html>'],
  ['/index.html', 'text/html; charset=utf-8', '<!doctype html>'],
  ['/assets/page.js', 'text/javascript; charset=utf-8', 'export {}'],
])('%s is there with its type', async (path, type, text) => {
  const response = find(path)
  expect(response?.headers.get('content-type')).toBe(type)
  expect(await response?.text()).toBe(text)
})

test.each(['/other.js', '/assets', '/assets/', '/../console-files.ts', '/assets/../../etc/passwd'])(
  '%s is not there',
  (path) => {
    expect(find(path)).toBeUndefined()
  },
)

test('the page may run and load nothing but its own files, and be shown in no frame', () => {
  const policy = find('/')?.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
})

test('a page that was not built has no files', () => {
  expect(createConsoleFiles(join(folder, 'nothing'))('/')).toBeUndefined()
})
