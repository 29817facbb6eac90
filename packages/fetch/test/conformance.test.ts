import { conformance } from '@tokenlane/conformance'

import { driver } from './driver.ts'

conformance(driver)
