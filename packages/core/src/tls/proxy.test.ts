import { expect, test } from 'vitest'
import { environmentProxy } from './proxy.ts'

const url = new URL('https://auth.example.com/token')
const proxy = 'http://user:password@proxy.example.com:3128'
const node = (version: string, env: Record<string, string>, execArgv: string[] = []) =>
  environmentProxy(url, { env, execArgv, versions: { node: version } })

test('a proxy is named by its variable, its host and port, and without its password', () => {
  expect(node('24.21.0', { HTTPS_PROXY: proxy })).toEqual({
    variable: 'HTTPS_PROXY',
    place: 'proxy.example.com:3128',
    used: false,
  })
  expect(node('24.21.0', { HTTPS_PROXY: proxy, https_proxy: 'http://first:1' })?.place).toBe('first:1')
  expect(node('24.21.0', {})).toBeUndefined()
})

test.each<[string, Record<string, string>, string[], boolean]>([
  ['22.20.0', { NODE_USE_ENV_PROXY: '1' }, [], false],
  ['22.21.0', { NODE_USE_ENV_PROXY: '1' }, [], true],
  ['24.0.0', { NODE_USE_ENV_PROXY: '1' }, [], true],
  ['26.0.0', { NODE_USE_ENV_PROXY: '0' }, [], false],
  ['26.0.0', {}, ['--use-env-proxy'], true],
  ['26.0.0', { NODE_OPTIONS: '--no-warnings --use-env-proxy' }, [], true],
])('Node %s with %j and %j uses it: %s', (version, env, execArgv, used) => {
  expect(node(version, { HTTPS_PROXY: proxy, ...env }, execArgv)?.used).toBe(used)
})

test('Deno and Bun use it always', () => {
  const env = { HTTPS_PROXY: proxy }
  for (const runtime of ['deno', 'bun'])
    expect(environmentProxy(url, { env, versions: { node: '24.0.0', [runtime]: '2' } })?.used).toBe(true)
})

test.each([
  ['auth.example.com', true],
  ['example.com', true],
  ['.example.com', true],
  ['*.example.com', true],
  ['a.example, *', true],
  ['auth.example.com:443', true],
  ['auth.example.com:8443', false],
  ['uth.example.com', false],
  ['example.org', false],
])('NO_PROXY=%s exempts auth.example.com: %s', (noProxy, exempt) => {
  const found = node('24.21.0', { HTTPS_PROXY: proxy, NO_PROXY: noProxy })
  expect(found === undefined).toBe(exempt)
})
