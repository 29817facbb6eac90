// Long: 120 scenarios.
import { conformance } from '@tokenlane/conformance'
import axios from 'axios'

import { driverOf } from './driver.ts'

const redirects = {
  reason: 'No version of the adapter for `fetch` shows a redirect before it follows it.',
  instead: 'The caller gets the redirect itself.',
}

conformance(driverOf(axios, { name: 'axios by `fetch`', adapter: 'fetch', limits: { redirects } }))
