import { format, inspect } from 'node:util'
import { serialize } from 'node:v8'
import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { fakeService } from '../test/fake-issuer.ts'

test('a token shows its value where `value` is read, and nowhere else', async () => {
  const { tokens } = fakeService()
  const before = Date.now()
  const token = await tokens.getToken('general')

  expect(token.value).toBe('token-1')
  expect(token.tokenType).toBe('Bearer')
  expect(token.issuer).toBe('general')
  expect(token.expiresAt.getTime()).toBeGreaterThanOrEqual(before + 3_600_000)
  expect(format('%s %o %j', token, token, token)).toBe('[redacted] [redacted] "[redacted]"')
  expect(JSON.stringify({ token })).toBe('{"token":"[redacted]"}')
  for (const shown of [inspect(token), inspect({ token }, { depth: 12, showHidden: true, getters: true })])
    expect(shown).not.toContain('token-1')
  const all = inspect([tokens, tokens.route('https://api.example.com/'), tokens.status()], {
    depth: 12,
    showHidden: true,
  })
  expect(all).not.toContain('token-1')
  expect(all).not.toContain('secret-1')
})

test.each<[string, (token: object) => unknown]>([
  // oxlint-disable-next-line typescript/no-base-to-string, typescript/restrict-template-expressions -- the mistake
  ['a template', (token) => `Bearer ${token}`],
  // oxlint-disable-next-line typescript/no-base-to-string -- the mistake
  ['String()', (token) => String(token)],
  ['a sum', (token) => 'Bearer ' + (token as unknown as string)],
  // oxlint-disable-next-line typescript/no-base-to-string -- the mistake
  ['join', (token) => ['Bearer', token].join(' ')],
  ['a header', (token) => new Headers({ authorization: token as unknown as string })],
  ['a form field', (token) => new URLSearchParams({ access_token: token as unknown as string })],
])(
  'a token used as text in %s throws and names `value`, since `Bearer [redacted]` would be sent',
  async (_, use) => {
    const token = await fakeService().tokens.getToken('general')
    expect(() => use(token)).toThrow(/use `token\.value`/)
  },
)

test.each<[string, (token: object) => unknown]>([
  ['structuredClone', (token) => structuredClone(token)],
  ['a message to a worker', (token) => new MessageChannel().port1.postMessage({ tokens: [token] })],
  ['an advanced message to a process', (token) => serialize(token)],
])('a token that %s would copy without its value is refused', async (_, copy) => {
  const token = await fakeService().tokens.getToken('general')
  expect(() => copy(token)).toThrow(/pass its `value`/)
})
