import tls from 'node:tls'
import { startSandbox } from '@tokenlane/sandbox'
import { expect, test } from 'vitest'
import { exchangeOf } from '../../src/follow/send-within-api.ts'
import { createTokenManager, generalIssuer, type TokenlaneEvent } from '../../src/index.ts'

// A real API over TLS whose policy is half of the configured one, in each dialect that it can say so.

const trusted = tls.getCACertificates('default')
const allowed = { quota: 5, window: 1_000 }
const configured = { quota: 10, window: 1_000 }

test.concurrent.each(['ratelimit', 'ratelimit-limit', 'x-ratelimit', 'x-ratelimit-seconds'] as const)(
  'an API that allows half of the configured policy and says so by %s refuses only the first calls',
  async (headers) => {
    const sandbox = await startSandbox({
      ratePolicies: { general: { limits: [allowed], retryAfter: false, headers: [headers] } },
    })
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...trusted, sandbox.ca])
    const events: TokenlaneEvent[] = []
    const tokens = createTokenManager({
      issuers: {
        general: generalIssuer({ authUrl: sandbox.authUrl, credentials: sandbox.credentials.general }),
      },
      apis: [{ baseUrl: sandbox.apiUrl, issuer: 'general', ratePolicy: { limits: [configured] } }],
      observe: (event) => events.push(event),
    })
    try {
      const url = `${sandbox.apiUrl}records?limit=1`
      const call = async (): Promise<number | undefined> =>
        tokens
          .route(url)
          ?.send(async (authorization) => exchangeOf(await fetch(url, { headers: { authorization } })))
          .then((response) => response.status)
      const statuses = await Promise.all(Array.from({ length: 25 }, call))
      expect(statuses).toEqual(Array(25).fill(200))
      // those that were sent before the first response, and a few more where the machine stands still
      expect(sandbox.control.counts().apis.general.limited).toBeLessThanOrEqual(5)
      expect(events.some((event) => event.type === 'api.paused' && event.reason === 'used-up')).toBe(true)
    } finally {
      await tokens.close()
      await sandbox.close()
    }
  },
)
