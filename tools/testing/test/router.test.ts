import fc from 'fast-check'
import { expect, test } from 'vitest'

import { guardingManager, issuerFor } from '../src/guarded-apis.ts'
import { trickyUrl } from '../src/tricky-url.ts'

const runs = process.env['TESTS'] === 'all' ? 100_000 : 5_000
// a hundred thousand take their time on a busy machine

test(`${runs} tricky URLs belong to the API that another rule says they belong to`, () => {
  const tokens = guardingManager()
  const seen = { general: 0, weblink: 0, none: 0 }
  fc.assert(
    fc.property(trickyUrl, (url) => {
      const issuer = issuerFor(url)
      seen[issuer ?? 'none'] += 1
      expect(tokens.route(url)?.issuer).toBe(issuer)
      expect(tokens.route(URL.parse(url) ?? url)?.issuer).toBe(issuer)
    }),
    { numRuns: runs },
  )
  // the tricks are of every kind
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs / 200)
})
