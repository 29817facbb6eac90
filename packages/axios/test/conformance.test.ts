import { conformance } from '@tokenlane/conformance'
import axios from 'axios'

import { driverOf } from './driver.ts'

conformance(driverOf(axios, { name: 'axios' }))
