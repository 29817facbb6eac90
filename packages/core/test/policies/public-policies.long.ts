// Long: an hour of each policy; random-policies.test.ts has others that are like them.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { RatePolicy } from '../../src/index.ts'
import { callStrictly, type Scene, type Sent } from './strict-server.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const page = readFileSync(new URL('../../../../docs/guide/public-policies.md', import.meta.url), 'utf8')

/** The policies of the page, by their headings: its own code, as a reader copies it. */
const policies = new Map(
  await Promise.all(
    Array.from(
      page.matchAll(/^## (.+)\n\n(?:.+\n)+\n```js\n([^`]+)```/gm),
      async ([, name = '', code = '']) => {
        const module = `data:text/javascript,${encodeURIComponent(`export default { ${code} }`)}`
        const { default: api } = (await import(module)) as { default: { ratePolicy: RatePolicy } }
        return [name, api.ratePolicy] as const
      },
    ),
  ),
)

const get = (path: string): Sent => ({ method: 'GET', path })
const turns =
  (...calls: Sent[]): Scene['call'] =>
  (index) =>
    calls[index % calls.length] as Sent
const isWrite = ({ method }: Sent): boolean => method !== 'GET'
const isRead = ({ method }: Sent): boolean => method === 'GET'
const startsWith =
  (path: string) =>
  (call: Sent): boolean =>
    call.path.startsWith(path)
const segment =
  (index: number) =>
  ({ path }: Sent): string =>
    path.split('/')[index] ?? ''
type Headers = Exclude<Scene['headers'], undefined>
/** The names that most APIs use, of one of their rules: with the reset in seconds, as an epoch, or as a date. */
const plain =
  (prefix: string, quota: number, of = 0): Headers =>
  ({ rule }) => ({
    [`${prefix}-limit`]: String(quota),
    [`${prefix}-remaining`]: String(rule(of).left),
    [`${prefix}-reset`]: String(Math.ceil(rule(of).resetIn / 1_000)),
  })
const epoch =
  (prefix: string, quota: number, of = 0): Headers =>
  (said) => ({
    ...plain(prefix, quota, of)(said),
    [`${prefix}-reset`]: String(Math.ceil((said.now + said.rule(of).resetIn) / 1_000)),
  })
const instant =
  (prefix: string, quota: number, of = 0): Headers =>
  (said) => ({
    ...plain(prefix, quota, of)(said),
    [`${prefix}-reset`]: new Date(said.now + said.rule(of).resetIn).toISOString(),
  })

/** How far local midnight is from that of UTC in November. */
const pacific = 8 * hour
const central = 6 * hour

/** A server for each policy, how long it is called, and the least share of what it allows that calls get. */
const scenes: Record<string, Scene & { readonly least: number }> = {
  'GitHub REST': {
    headers: epoch('x-ratelimit', 5_000),
    rules: [{ sliding: 5_000, window: hour }, { atOnce: 100 }],
    refusal: { status: 403 },
    seconds: 3_700,
    least: 0.98,
  },
  'GitHub secondary limit': {
    rules: [{ sliding: 900, window: minute, cost: (call) => (isRead(call) ? 1 : 5) }],
    call: turns(get('/repos'), { method: 'POST', path: '/issues' }, get('/repos/1')),
    seconds: 300,
    least: 0.97,
  },
  'Shopify REST': {
    rules: [{ bucket: 40, perSecond: 2 }],
    headers: ({ rule }) => ({ 'x-shopify-shop-api-call-limit': `${40 - rule(0).left}/40` }),
    seconds: 300,
    least: 0.91,
  },
  'Shopify GraphQL': {
    rules: [{ bucket: 2_000, perSecond: 100, cost: ({ cost = 1 }) => cost }],
    call: (index) => ({ method: 'POST', path: '/graphql.json', cost: [50, 400, 10][index % 3] }),
    seconds: 300,
    least: 0.84,
  },
  HubSpot: {
    headers: ({ rule }) => ({
      'x-hubspot-ratelimit-remaining': String(rule(0).left),
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
    }),
    rules: [{ fixed: 190, window: 10 * second }],
    callers: 200,
    seconds: 120,
    least: 0.98,
  },
  'Jira Cloud': {
    headers: (said) => ({
      ...plain('x-ratelimit', 100)(said),
      'x-ratelimit-reset': new Date(Math.ceil((said.now + 1) / 60_000) * 60_000)
        .toISOString()
        .replace(':00.000', ''),
    }),
    rules: [
      { sliding: 100, window: second },
      { sliding: 20, window: 2 * second, of: isWrite, key: segment(2) },
    ],
    call: turns(
      { method: 'PUT', path: '/issue/A-1' },
      { method: 'POST', path: '/issue/A-1/comment' },
      { method: 'PUT', path: '/issue/B-2' },
      get('/search'),
    ),
    seconds: 60,
    least: 0.98,
  },
  'Slack Web API': {
    rules: [
      { sliding: 20, window: minute, of: startsWith('/conversations.list') },
      { sliding: 50, window: minute, of: startsWith('/conversations.info') },
    ],
    call: turns(get('/conversations.list'), get('/conversations.info')),
    seconds: 300,
    least: 0.98,
  },
  Zendesk: {
    headers: (said) => ({
      'x-rate-limit': '400',
      'x-rate-limit-remaining': String(said.rule(0).left),
      ...plain('ratelimit', 400)(said),
    }),
    rules: [
      { sliding: 400, window: minute },
      { sliding: 10, window: minute, of: startsWith('/incremental/') },
    ],
    call: turns(get('/tickets'), get('/tickets/1'), get('/users'), get('/incremental/tickets')),
    seconds: 300,
    least: 0.98,
  },
  'Salesforce REST': {
    rules: [{ sliding: 100_000, window: day }],
    refusal: { status: 403 },
    headers: ({ rule }) => ({ 'sforce-limit-info': `api-usage=${100_000 - rule(0).left}/100000` }),
    seconds: 30,
    callers: 20,
    least: 0,
  },
  'Microsoft Graph, Outlook': {
    rules: [{ sliding: 10_000, window: 10 * minute, key: segment(2) }, { atOnce: 4 }],
    call: turns(get('/users/a/messages')),
    seconds: 1_200,
    least: 0.98,
  },
  'Google Sheets': {
    rules: [
      { fixed: 300, window: minute, of: isRead },
      { fixed: 300, window: minute, of: isWrite },
    ],
    call: turns(get('/v4'), { method: 'PUT', path: '/v4' }),
    seconds: 300,
    least: 0.98,
  },
  Gmail: {
    rules: [{ sliding: 15_000, window: minute, cost: ({ path }) => (path.endsWith('/send') ? 100 : 5) }],
    call: turns(get('/messages'), get('/messages'), { method: 'POST', path: '/messages/send' }),
    seconds: 180,
    least: 0.97,
  },
  'YouTube Data': {
    rules: [
      { fixed: 10_000, window: day, phase: pacific, cost: ({ path }) => (path === '/search' ? 100 : 1) },
    ],
    refusal: { status: 403 },
    call: turns(get('/search'), get('/videos')),
    seconds: (3 * day) / second,
    callers: 5,
    least: 0.98,
  },
  'Amazon SP-API, getOrders': {
    headers: () => ({ 'x-amzn-ratelimit-limit': '0.0167' }),
    rules: [{ bucket: 20, perSecond: 0.0167 }],
    call: turns(get('/orders')),
    seconds: 6 * 3_600,
    callers: 5,
    least: 0.97,
  },
  Stripe: {
    rules: [
      { fixed: 100, window: second, of: isRead },
      { fixed: 100, window: second, of: isWrite },
    ],
    call: turns(get('/charges'), { method: 'POST', path: '/charges' }),
    seconds: 30,
    least: 0.94,
  },
  'Twitch Helix': {
    headers: epoch('ratelimit', 800),
    rules: [{ bucket: 800, perSecond: 800 / 60 }],
    seconds: 300,
    least: 0.81,
  },
  Xero: {
    headers: ({ rule }) => ({
      'x-minlimit-remaining': String(rule(0).left),
      'x-daylimit-remaining': String(rule(1).left),
    }),
    rules: [{ sliding: 60, window: minute }, { sliding: 5_000, window: day }, { atOnce: 5 }],
    seconds: 1_200,
    least: 0.98,
  },
  'QuickBooks Online': {
    rules: [{ sliding: 500, window: minute }, { atOnce: 10 }],
    seconds: 300,
    least: 0.98,
  },
  Zoom: {
    headers: () => ({ 'x-ratelimit-category': 'Light' }),
    rules: [
      { sliding: 30, window: second, of: startsWith('/users/') },
      { sliding: 10, window: second, of: startsWith('/report/') },
    ],
    call: turns(get('/users/1'), get('/users/2'), get('/users/3'), get('/report/daily')),
    seconds: 60,
    least: 0.97,
  },
  Airtable: {
    rules: [{ sliding: 5, window: second, key: segment(1) }],
    refusal: { blocks: 30 * second },
    call: turns(get('/app1/Tasks'), get('/app2/Tasks'), get('/app3/Tasks')),
    seconds: 60,
    least: 0.96,
  },
  Asana: {
    rules: [
      { sliding: 150, window: minute },
      { sliding: 60, window: minute, of: ({ path }) => path.endsWith('/tasks/search') },
    ],
    call: turns(get('/tasks'), get('/workspaces/1/tasks/search')),
    seconds: 300,
    least: 0.98,
  },
  Trello: {
    headers: ({ rule }) => ({
      'x-rate-limit-api-token-interval-ms': '10000',
      'x-rate-limit-api-token-remaining': String(rule(0).left),
    }),
    rules: [
      { sliding: 100, window: 10 * second },
      { sliding: 100, window: 15 * minute, of: startsWith('/members/') },
    ],
    call: (index) => (index % 50 === 0 ? get('/members/me') : get('/boards/1')),
    seconds: 300,
    least: 0.98,
  },
  'monday.com': {
    rules: [{ fixed: 5_000_000, window: minute, cost: (call) => (isWrite(call) ? 10_000 : 1_000) }],
    call: turns(get('/boards'), { method: 'POST', path: '/items' }),
    seconds: 180,
    least: 0.97,
  },
  Discord: {
    headers: (said) => {
      const { left, resetIn } = said.rule(isWrite(said.call) ? 1 : 0)
      return {
        'x-ratelimit-bucket': 'b',
        'x-ratelimit-remaining': String(left),
        'x-ratelimit-reset': ((said.now + resetIn) / 1_000).toFixed(3),
        'x-ratelimit-reset-after': (resetIn / 1_000).toFixed(3),
      }
    },
    rules: [
      { sliding: 50, window: second },
      { sliding: 5, window: 5 * second, of: isWrite, key: segment(2) },
    ],
    call: (index) =>
      index % 10 === 0 ? { method: 'POST', path: `/channels/${index % 3}/messages` } : get('/users/1'),
    seconds: 60,
    least: 0.96,
  },
  Amadeus: {
    // the network makes two of our calls up to 10 ms closer than they were sent
    rules: [{ sliding: 10, window: second }, { apart: 90 }],
    seconds: 60,
    least: 0.95,
  },
  FedEx: { rules: [{ fixed: 1_400, window: 10 * second }], callers: 300, seconds: 60, least: 0.98 },
  'DHL tracking': {
    rules: [
      { fixed: 250, window: day },
      { sliding: 1, window: second },
    ],
    seconds: (3 * day) / second,
    callers: 2,
    least: 0.98,
  },
  DigitalOcean: {
    headers: epoch('ratelimit', 5_000),
    rules: [
      { sliding: 5_000, window: hour },
      { sliding: 250, window: minute },
    ],
    seconds: 7_200,
    least: 0.98,
  },
  Klaviyo: {
    headers: (said) => ({
      ...plain('ratelimit', 75, said.rule(1).left < said.rule(0).left ? 1 : 0)(said),
      'ratelimit-limit': '75, 75;w=1, 700;w=60',
    }),
    rules: [
      { fixed: 75, window: second, key: segment(1) },
      { fixed: 700, window: minute, key: segment(1) },
    ],
    call: turns(get('/profiles/1'), get('/lists/1')),
    seconds: 299,
    least: 0.98,
  },
  Strava: {
    headers: ({ rule }) => ({
      'x-ratelimit-limit': '100,1000',
      'x-ratelimit-usage': `${100 - rule(0).left},${1_000 - rule(1).left}`,
    }),
    rules: [
      { fixed: 100, window: 15 * minute },
      { fixed: 1_000, window: day },
    ],
    seconds: (2 * day) / second,
    callers: 5,
    least: 0.98,
  },
  Marketo: {
    rules: [
      { sliding: 100, window: 20 * second },
      { fixed: 50_000, window: day, phase: central },
      { atOnce: 10 },
    ],
    seconds: 600,
    least: 0.98,
  },
  Anthropic: {
    headers: instant('anthropic-ratelimit-requests', 50),
    rules: [{ bucket: 50, perSecond: 50 / 60 }],
    seconds: 600,
    least: 0.89,
  },
}

test('every policy of the page has a server that enforces it, and there are 25 at least', () => {
  expect([...policies.keys()]).toEqual(Object.keys(scenes))
  expect(policies.size).toBeGreaterThanOrEqual(25)
})

test.each(Object.entries(scenes))('%s: the policy of the page is never over', async (name, scene) => {
  const { over, lost, errors, share } = await callStrictly(policies.get(name) as RatePolicy, scene)
  expect({ over, lost, errors }).toEqual({ over: 0, lost: 0, errors: [] })
  expect(share).toBeGreaterThanOrEqual(scene.least)
})
