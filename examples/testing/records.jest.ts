import { beforeEach, expect, test } from '@jest/globals'
import { fakeTokens } from '@tokenlane/core/testing'
import { createRecords } from './records.ts'

const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
const records = createRecords(tokens, async () => Response.json({ id: 'A1' }))
beforeEach(() => tokens.reset())

test('a record is read with one call', async () => {
  expect(await records.read('A1')).toEqual({ id: 'A1' })
  expect(tokens.counts()).toEqual({ calls: 1, sends: 1, queued: 0 })
})

test('no record is lost when a token is refused', async () => {
  tokens.refuseOnce()
  expect(await records.read('A1')).toEqual({ id: 'A1' })
  expect(tokens.counts().sends).toBe(2)
})

test('without a token nothing is sent', async () => {
  tokens.failOnce()
  await expect(records.read('A1')).rejects.toMatchObject({
    code: 'TOKEN_REQUEST_REFUSED',
  })
  expect(tokens.counts().sends).toBe(0)
})

test('records read at the same time wait in one queue', async () => {
  const hold = tokens.hold()
  const both = Promise.all([records.read('A1'), records.read('A2')])
  await hold.queued(2)
  expect(tokens.counts().sends).toBe(0)
  hold.release()
  expect(await both).toHaveLength(2)
})
