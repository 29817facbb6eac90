import { expect, test } from 'vitest'

import { ClientRegistration } from './client-registration.ts'

test('without overlap the old secret is refused at once', () => {
  const client = new ClientRegistration('general')
  const before = client.credentials()
  client.rotate({ overlap: false })
  const after = client.credentials()
  expect(after.clientId).toBe(before.clientId)
  expect(client.accepts(before.clientSecret)).toBe(false)
  expect(client.accepts(after.clientSecret)).toBe(true)
})

test('with overlap every old secret works until old ones are dropped', () => {
  const client = new ClientRegistration('general')
  const first = client.credentials().clientSecret
  client.rotate({ overlap: true })
  const second = client.credentials().clientSecret
  client.rotate({ overlap: true })
  const third = client.credentials().clientSecret
  expect([first, second, third].map((secret) => client.accepts(secret))).toEqual([true, true, true])
  client.dropOldSecrets()
  expect([first, second, third].map((secret) => client.accepts(secret))).toEqual([false, false, true])
})

test('a rotation without overlap ends an overlap before it', () => {
  const client = new ClientRegistration('general')
  const first = client.credentials().clientSecret
  client.rotate({ overlap: true })
  client.rotate({ overlap: false })
  expect(client.accepts(first)).toBe(false)
})

test('secrets are random and need no escaping in a form', () => {
  const { clientId, clientSecret } = new ClientRegistration('general').credentials()
  expect(clientSecret).not.toBe(new ClientRegistration('general').credentials().clientSecret)
  expect(encodeURIComponent(clientId + clientSecret)).toBe(clientId + clientSecret)
  expect(clientSecret.length).toBeGreaterThanOrEqual(32)
})
