// Long: 146 scenarios.
import { conformance } from '@tokenlane/conformance'
import * as undici from 'undici-8'
import manifest from 'undici-8/package.json' with { type: 'json' }
import { describe } from 'vitest'

import { undiciDriver } from './drivers.ts'

/** From 8.4 on, undici follows no redirect of `pipeline`; the tests with the oldest clients run 8.0. */
const followsNoRedirect = manifest.version.localeCompare('8.4.0', 'en', { numeric: true }) >= 0
const noRedirects = {
  reason: 'undici 8.4 and later do not follow redirects for `pipeline`.',
  instead: 'The caller gets the redirect itself.',
}

describe('undici 8, stream', () => {
  conformance(undiciDriver(undici, 'stream'))
})

describe('undici 8, pipeline', () => {
  conformance(undiciDriver(undici, 'pipeline', followsNoRedirect ? { redirects: noRedirects } : {}))
})
