// Long: 219 scenarios.
import { conformance } from '@tokenlane/conformance'
import * as undici from 'undici'
import { describe } from 'vitest'

import { undiciDriver } from './drivers.ts'

describe.each(['request', 'stream', 'pipeline'] as const)('undici 7, %s', (way) => {
  conformance(undiciDriver(undici, way))
})
