import type { Sandbox } from '@tokenlane/sandbox'
import { expect } from 'vitest'

/** What every example that is a server does, whatever its framework: with a live token, an expired one, and none. */
export async function mustAnswerThroughTrouble(url: string, { control }: Sandbox): Promise<void> {
  const health = await fetch(new URL('/health', url))
  expect(await health.json()).toMatchObject({ issuers: { general: { token: 'live' } } })

  control.expireTokens('general')
  const found = await fetch(new URL('/records/INV-0000001', url))
  expect(await found.json()).toMatchObject({ id: 'INV-0000001' })
  expect(control.counts().issuers.general.issued).toBe(2)

  control.expireTokens('general')
  control.rotateSecret('general')
  const refused = await fetch(new URL('/records/INV-0000002', url))
  expect(refused.status).toBe(503)
  expect(await refused.json()).toEqual({ code: 'TOKEN_REQUEST_REFUSED' })
}
