// Long: 122 scenarios.
import { conformance, type Driver } from '@tokenlane/conformance'
import axios, { type AxiosInstance } from 'axios'

import { driverOf } from './driver.ts'

/** The tests with the oldest clients run 1.7 and 1.12, whose adapter for `fetch` can do less. */
const isBefore = (version: string): boolean =>
  axios.VERSION.localeCompare(version, 'en', { numeric: true }) < 0

const limits: Driver<AxiosInstance>['limits'] = {
  redirects: {
    reason: 'No version of the adapter for `fetch` shows a redirect before it follows it.',
    instead: 'The caller gets the redirect itself.',
  },
  ...(isBefore('1.16.0') && {
    oneAbort: {
      reason: 'axios makes an `AxiosError` of an abort in flight, and a `CanceledError` of one before.',
      instead: 'A call that is aborted while it waits rejects like one that was not sent.',
    },
  }),
  ...(isBefore('1.12.0') && {
    statusFirst: {
      reason: 'axios before 1.12 takes no `fetch`, and shows the status of a response after its body.',
      instead: 'A body that cannot be read is an error of axios, as without Tokenlane.',
    },
  }),
}

conformance(driverOf(axios, { name: 'axios by `fetch`', adapter: 'fetch', limits }))
