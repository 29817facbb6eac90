import { expect, test } from 'vitest'

import { nextHop } from './redirects.ts'

const api = new URL('https://api.example/records')
const page = 'https://app.example/page?x=1'
const own = 'https://api.example/page?x=1'
type Policy = NonNullable<RequestInit['referrerPolicy']>

/** Returns what the request after a redirect sends of a referrer. */
function after(referrer: string, referrerPolicy: Policy, asked?: string): RequestInit {
  const init = { referrer, referrerPolicy }
  const hop = { url: api, method: 'GET', headers: new Headers(), init, hasBody: false, replayable: true }
  const headers = { location: '/there', ...(asked !== undefined && { 'referrer-policy': asked }) }
  return nextHop(hop, new Response(null, { status: 302, headers })).init
}

test.each<[Policy, string, string]>([
  ['', 'https://app.example/', own],
  ['strict-origin-when-cross-origin', 'https://app.example/', own],
  ['origin-when-cross-origin', 'https://app.example/', own],
  ['same-origin', '', own],
  ['no-referrer', '', ''],
  ['origin', 'https://app.example/', 'https://api.example/'],
  ['strict-origin', 'https://app.example/', 'https://api.example/'],
  ['unsafe-url', page, own],
  ['no-referrer-when-downgrade', page, own],
])("what policy '%s' leaves out of one request, no later one says", (policy, fromPage, fromOwn) => {
  expect(after(page, policy, 'unsafe-url').referrer).toBe(fromPage)
  expect(after(own, policy, 'unsafe-url').referrer).toBe(fromOwn)
})

test.each(['about:client', '', 'no URL'])('what is not a URL of a page, "%s", stays as it is', (referrer) => {
  expect(after(referrer, 'no-referrer').referrer).toBe(referrer)
})

test('the last known policy of a redirect applies, and without one that of the call', () => {
  const policyAfter = (asked?: string): Policy | undefined => after(page, 'origin', asked).referrerPolicy
  expect(policyAfter('no-referrer')).toBe('no-referrer')
  expect(policyAfter('no-referrer, unsafe-url,nonsense')).toBe('unsafe-url')
  for (const asked of [undefined, '', 'nonsense']) expect(policyAfter(asked)).toBe('origin')
})
