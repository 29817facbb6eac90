import { expect, test } from 'vitest'
import { readAsked } from '../../src/limits/rate-limit-headers.ts'
import type { RateLimitHeaders } from '../../src/index.ts'

// How public APIs write when to come back, each with its own words.

const now = Date.UTC(2026, 10, 21, 12)
const epoch = now / 1_000

/** Returns for how long a 429 with these headers pauses its API, in seconds. */
function pauseOf(headers: Record<string, string>, own: RateLimitHeaders | true): number {
  const all: Record<string, string> = { date: new Date(now).toUTCString(), ...headers }
  return (readAsked({ status: 429, header: (name) => all[name] }, own) ?? Number.NaN) / 1_000
}

const named = (remaining: string, reset: string): RateLimitHeaders => ({ remaining, reset })

test.each<[api: string, headers: Record<string, string>, seconds: number, own?: RateLimitHeaders]>([
  ['most', { 'retry-after': '30' }, 30],
  ['Microsoft Graph', { 'retry-after': '2.128' }, 2.128],
  ['SpaceTraders', { 'retry-after': '0.493' }, 0.493],
  ['Shopify', { 'retry-after': '2.0' }, 2],
  ['Zoom', { 'retry-after': '2026-11-22T00:00:00Z' }, 43_200],
  ['RFC 9110', { 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, 20],
  ['gateways of language models', { 'retry-after': '2', 'retry-after-ms': '1234' }, 1.234],
  ['Azure', { 'x-ms-retry-after-ms': '250' }, 0.25],
  ['MailerLite, Addepar', { 'x-ratelimit-retry-after': '17' }, 17],
  ['Bokio', { left: '0', after: '9' }, 9, named('left', 'after')],
  ['GitHub, SendGrid, DigitalOcean', { 'x-ratelimit-reset': `${epoch + 60}` }, 60],
  ['Discord', { 'x-ratelimit-reset': `${epoch + 1}.25`, 'x-ratelimit-remaining': '0' }, 1.25],
  ['Pipedrive, Perforce, Reddit', { 'x-ratelimit-reset': '2', 'x-ratelimit-remaining': '0' }, 2],
  ['Jira', { 'x-ratelimit-reset': '2026-11-21T12:02Z' }, 120],
  ['Rachio', { 'x-ratelimit-reset': '2026-11-21T12:00:30Z' }, 30],
  [
    'lemlist',
    { 'x-ratelimit-reset': 'Sat Nov 21 2026 13:00:42 GMT+0100 (Central European Standard Time)' },
    42,
  ],
  ['Okta', { 'x-rate-limit-reset': `${epoch + 9}`, 'x-rate-limit-remaining': '0' }, 9],
  ['Twitch', { 'ratelimit-reset': `${epoch + 5}`, 'ratelimit-remaining': '0' }, 5],
  [
    'Klaviyo, Zendesk, Asaas',
    { 'ratelimit-limit': '100', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' },
    30,
  ],
  ['Cloudflare', { ratelimit: '"default";r=0;t=30', 'ratelimit-policy': '"default";q=100;w=60' }, 30],
  ['OpenAI, Groq, Cerebras', { left: '0', reset: '6m0s' }, 360, named('left', 'reset')],
  ['Anthropic', { left: '0', reset: '2026-11-21T12:41:00Z' }, 2_460, named('left', 'reset')],
  ['Linear', { left: '0', reset: `${now + 3_500}` }, 3.5, named('left', 'reset')],
  [
    'BigCommerce',
    { left: '0', 'x-rate-limit-time-reset-ms': '15000' },
    15,
    named('left', 'x-rate-limit-time-reset-ms'),
  ],
  ['EVE', { left: '0', 'x-esi-error-limit-reset': '22' }, 22, named('left', 'x-esi-error-limit-reset')],
  [
    'Zendesk, for one endpoint',
    { 'zendesk-ratelimit-tickets-index': 'total=100; remaining=0; resets=41' },
    41,
    { remaining: 'zendesk-ratelimit-tickets-index' },
  ],
  [
    'Jira, of several quotas',
    { 'beta-ratelimit': '"jira-burst";r=9;t=1, "jira-quota";r=0;t=2400' },
    2_400,
    { remaining: 'beta-ratelimit' },
  ],
  [
    'Auth0, for tokens',
    { 'auth0-client-quota-limit': 'b=per_hour;q=10;r=0;t=3540,b=per_day;q=50;r=45;t=86340' },
    3_540,
    { remaining: 'auth0-client-quota-limit' },
  ],
  [
    'Salesforce, of an organisation and an app',
    { 'sforce-limit-info': 'api-usage=25/5000, per-app-api-usage=250/250(appName=sample-app)', wait: '60' },
    60,
    named('sforce-limit-info', 'wait'),
  ],
  ['Kong behind another gateway', { 'x-ratelimit-remaining': '99, 0', 'x-ratelimit-reset': '3, 40' }, 40],
  ['Discord, relative', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1.25' }, 1.25],
  ['Walmart', { left: '0', at: '2026-11-21T12:00:07Z' }, 7, named('left', 'at')],
])('%s: %j pauses for %d s', (_api, headers, seconds, own) => {
  expect(pauseOf(headers, own ?? true)).toBeCloseTo(seconds, 6)
})
