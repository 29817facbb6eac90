import { conformance } from '@tokenlane/conformance'
import * as undici from 'undici-8'
import { describe } from 'vitest'

import { undiciDriver } from './drivers.ts'

const limits = {
  redirects: {
    reason: 'undici 8.4 and later follow no redirect of `pipeline`.',
    instead: 'The caller gets the redirect itself.',
  },
}

describe('undici 8, request', () => {
  conformance(undiciDriver(undici, 'request'))
})

describe('undici 8, stream', () => {
  conformance(undiciDriver(undici, 'stream'))
})

describe('undici 8, pipeline', () => {
  conformance(undiciDriver(undici, 'pipeline', limits))
})
