import fc from 'fast-check'
import { expect, test } from 'vitest'

import { astray, type Sent } from './guarded-apis.ts'
import { trickyUrl } from './tricky-url.ts'

/** How a client is sent tricky URLs. */
interface TrickyCalls<How> {
  /** How many calls to send where all tests run; a tenth of them otherwise. */
  readonly runs: number
  /** What a call has beside its URL. */
  readonly how: fc.Arbitrary<How>
  /** Makes a client that puts what it would send into `sent`, and returns the function that sends one call. */
  readonly open: (sent: Sent[]) => (url: string, how: How) => Promise<unknown>
  /** Whether a call to an API may go without a token after all. Default: none may. */
  readonly mayGoWithout?: (request: Sent, url: string, how: How) => boolean
}

/** Registers the test that calls to URLs that only look like an API's carry the token of where they lead, or none. */
export function testTrickyCalls<How>({ runs: most, how, open, mayGoWithout }: TrickyCalls<How>): void {
  const runs = process.env['TESTS'] === 'all' ? most : most / 10
  // thousands of calls take more than the default 5 s on a busy machine
  const patience = { timeout: 120_000 }
  test(`${runs} tricky URLs carry the token of the API that they lead to, or none`, patience, async () => {
    const sent: Sent[] = []
    const send = open(sent)
    const total = { token: 0, none: 0 }
    await fc.assert(
      fc.asyncProperty(trickyUrl, how, async (url, given) => {
        sent.length = 0
        // what a client does not take is not sent
        await (async () => send(url, given))().catch(() => {})
        const wrong = astray(sent).filter((request) => mayGoWithout?.(request, url, given) !== true)
        expect(wrong).toEqual([])
        for (const { authorization } of sent) total[authorization === null ? 'none' : 'token'] += 1
      }),
      { numRuns: runs },
    )
    expect(Math.min(...Object.values(total))).toBeGreaterThan(runs / 50)
  })
}
