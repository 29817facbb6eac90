import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

test('the example loses no call and requests no token needlessly', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--seconds', '6'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^\d+ calls in 6 s with axios, fetch, got and ky/)
  for (const api of ['general', 'weblink'])
    for (const client of ['fetch', 'axios', 'got', 'ky'])
      expect(stdout).toMatch(new RegExp(`^${api}  ${client}( +[\\d,]+){5} +0$`, 'm'))
  // how many and why depends on the machine; that none was needless is in the closing line
  for (const issuer of ['general', 'weblink'])
    expect(stdout).toMatch(new RegExp(`^${issuer} +\\d+ +1( +\\d+){4}$`, 'm'))
  expect(stdout).toContain('general: the new secret is in use')
  expect(stdout).toContain('OK: no call was lost, none came too fast, and every token request was needed.')
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(status).toBe(0)
})
