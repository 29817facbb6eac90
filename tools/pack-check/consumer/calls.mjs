import { attachTokens } from '@tokenlane/axios'
import * as core from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import * as undici from 'undici'

import { smoke } from './smoke.mjs'

await smoke({
  core,
  fetch: { createFetch },
  axios: { attachTokens, client: axios },
  got: { gotTokens, client: got },
  ky: { kyTokens, client: ky },
  undici: { tokensInterceptor, client: undici },
})
