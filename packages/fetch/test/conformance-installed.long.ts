// Long: 73 scenarios.
import { conformance } from '@tokenlane/conformance'

import { installedDriver } from './installed-driver.ts'

conformance(installedDriver)
