// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { createTokens } from './manager.ts'
import { createRecords } from './records.ts'

test('fake tokens work in a page', async () => {
  const records = createRecords(
    fakeTokens({ apis: ['https://api.example.com/'] }),
    async () => Response.json({ id: 'A1' }),
  )
  expect(await records.read('A1')).toEqual({ id: 'A1' })
})

test('a manager refuses to start where a visitor could read its secret', () => {
  expect(() => createTokens()).toThrow('use the node environment')
})
