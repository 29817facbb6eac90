import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { reasonOf, TokenlaneError } from './errors.ts'

test('an error has only the fields that are known of it, so that it prints no others', () => {
  expect(Object.keys(new TokenlaneError('QUEUE_FULL', 'Cannot queue call: 10 wait'))).not.toContain('status')
  expect(
    Object.keys(new TokenlaneError('TOKEN_REQUEST_REFUSED', 'Cannot obtain token', { status: 401 })),
  ).toEqual(expect.not.arrayContaining(['issuer', 'oauthError', 'retryAfter']))
})

test('a message ends with the section of the troubleshooting page that its code has', () => {
  const error = new TokenlaneError('QUEUE_FULL', 'Cannot queue call: 10 wait')
  const pointer =
    /^Cannot queue call: 10 wait \(see node_modules\/@tokenlane\/core\/troubleshoot\.md#(\w+)\)$/
  const [, section] = pointer.exec(error.message) ?? []
  // the build writes this page into the package
  const guide = new URL('../../../docs/guide/troubleshoot.md', import.meta.url)
  const headings = readFileSync(guide, 'utf8').matchAll(/^## (.+)$/gm)
  // as forges make anchors of headings
  expect(Array.from(headings, ([, heading = '']) => heading.toLowerCase())).toContain(section)
})

test('an error as JSON has its message', () => {
  const { message } = new TokenlaneError('QUEUE_FULL', 'Cannot queue call: 10 wait')
  expect(JSON.parse(JSON.stringify(new TokenlaneError('QUEUE_FULL', 'Cannot queue call: 10 wait')))).toEqual({
    name: 'TokenlaneError',
    code: 'QUEUE_FULL',
    message,
  })
})

test('the pointer of an error that lists several has a line of its own', () => {
  const one = new TokenlaneError('INVALID_OPTIONS', 'a is wrong')
  const all = new TokenlaneError('INVALID_OPTIONS', '2 options are invalid:\n- a\n- b', {
    failures: [one, one],
  })
  expect(all.message).toMatch(/:\n- a\n- b\n\(see \S+\)$/)
  expect(reasonOf(all)).toBe('2 options are invalid:\n- a\n- b')
})

test('an error within the message of another one leaves its pointer out', () => {
  const error = new TokenlaneError('CREDENTIALS_UNAVAILABLE', 'Cannot read credentials: the file is missing')
  expect(reasonOf(error)).toBe('Cannot read credentials: the file is missing')
})
