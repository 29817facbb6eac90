import { conformance } from '@tokenlane/conformance'
import * as undici from 'undici-8'

import { undiciDriver } from './drivers.ts'

conformance(undiciDriver(undici, 'request'))
