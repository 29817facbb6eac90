// Long: 73 scenarios.
import { conformance } from '@tokenlane/conformance'

import { globalFetch } from './global-fetch.ts'

// in a process without another undici, which may replace the global dispatcher
conformance(globalFetch)
