import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { faultsOf } from './faults.ts'

const site = (files: Record<string, string>): string[] => {
  const dist = mkdtempSync(join(tmpdir(), 'site-'))
  onTestFinished(() => rmSync(dist, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dist, name), text)
  return faultsOf(dist)
}

test('a link to a heading that does not exist is a fault', () => {
  const faults = site({
    'a.html':
      '<h2 id="here">a</h2><a href="#here">a</a><a href="/b.html#there">b</a><a href="/b.html#gone">b</a>',
    'b.html': '<h2 id="there">b</h2>',
  })
  expect(faults).toEqual(['/a.html links to /b.html#gone, which does not exist'])
})

test('what is loaded from elsewhere is a fault, a link to elsewhere is none', () => {
  const faults = site({
    'a.html': '<a href="https://example.com/a#b">a</a><script src="https://cdn.example.com/a.js"></script>',
    'a.css': '@import "https://fonts.example.com/a.css"; a { background: url(//example.com/a.png) }',
  })
  expect(faults).toHaveLength(3)
})

test('a page of more than 500 kB is a fault', () => {
  expect(site({ 'a.html': 'a'.repeat(500_001) })).toEqual(['/a.html has 500001 bytes, more than 500000'])
})

test('a block of code that is not fenced is a fault', () => {
  const faults = site({
    'a.html': '<pre><code>a</code></pre>',
    'b.html': '<pre class="shiki"><code>b</code></pre>',
  })
  expect(faults).toEqual(['/a.html has an indented block of code, which does not scroll'])
})

test('a page that its own sidebar does not list is a fault', () => {
  const page = (links: string): string => `<aside class="VPSidebar" data-v-1>${links}</aside>`
  const faults = site({
    'a.html': page('<a href="/a.html">a</a>'),
    'b.html': page('<a href="/a.html">a</a>'),
    'index.html': page('<a href="/">a</a>'),
    'home.html': 'no sidebar',
  })
  expect(faults).toEqual(['/b.html is not in its sidebar'])
})
