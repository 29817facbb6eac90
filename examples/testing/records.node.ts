import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { fakeTokens } from '@tokenlane/core/testing'
import { createRecords } from './records.ts'

const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
const records = createRecords(tokens, async () => Response.json({ id: 'A1' }))
beforeEach(() => tokens.reset())

test('a record is read with one call', async () => {
  assert.deepEqual(await records.read('A1'), { id: 'A1' })
  assert.deepEqual(tokens.counts(), { calls: 1, sends: 1, queued: 0 })
})

test('no record is lost when a token is refused', async () => {
  tokens.refuseOnce()
  assert.deepEqual(await records.read('A1'), { id: 'A1' })
  assert.equal(tokens.counts().sends, 2)
})

test('without a token nothing is sent', async () => {
  tokens.failOnce()
  await assert.rejects(records.read('A1'), { code: 'TOKEN_REQUEST_REFUSED' })
  assert.equal(tokens.counts().sends, 0)
})

test('records read at the same time wait in one queue', async () => {
  const hold = tokens.hold()
  const both = Promise.all([records.read('A1'), records.read('A2')])
  await hold.queued(2)
  assert.equal(tokens.counts().sends, 0)
  hold.release()
  assert.equal((await both).length, 2)
})
