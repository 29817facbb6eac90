import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mustBeSupportedNode, mustHaveUrlParse } from './supported-node.ts'

test.each(['18.20.8', '20.20.2', '21.7.3', '22.18.0'])(
  'Node %s gets an error that says which version is needed',
  (node) => {
    expect(() => mustBeSupportedNode({ node })).toThrow(
      `Cannot load @tokenlane/core: it needs Node 22.19 or later, and this is Node ${node}.`,
    )
  },
)

test.each([
  { node: '22.19.0' },
  { node: '24.0.0' },
  { node: '26.1.0' },
  { node: '20.0.0', bun: '1.4.5' },
  { node: '20.11.1', deno: '2.9.6' },
  {},
  undefined,
])('%j passes', (versions) => {
  expect(() => mustBeSupportedNode(versions)).not.toThrow()
})

test('a runtime without URL.parse gets an error that says what to set', () => {
  expect(() => mustHaveUrlParse({})).toThrow('this runtime has no `URL.parse`')
  expect(mustHaveUrlParse).not.toThrow()
})

test('the version is that of package.json', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(engines.node).toMatch(/^\^22\.19\.0 /)
})
