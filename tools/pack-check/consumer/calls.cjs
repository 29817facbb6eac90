const { attachTokens } = require('@tokenlane/axios')
const core = require('@tokenlane/core')
const { createFetch } = require('@tokenlane/fetch')
const { gotTokens } = require('@tokenlane/got')
const { kyTokens } = require('@tokenlane/ky')
const { tokensInterceptor } = require('@tokenlane/undici')
const axios = require('axios')
const { default: got } = require('got')
const { default: ky } = require('ky')
const undici = require('undici')

const { smoke } = require('./smoke.mjs')

void smoke({
  core,
  fetch: { createFetch },
  axios: { attachTokens, client: axios },
  got: { gotTokens, client: got },
  ky: { kyTokens, client: ky },
  undici: { tokensInterceptor, client: undici },
})
