// The bootstrap of an application that exports its HTTP client beside its token manager.
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { attachTokens } from '@tokenlane/axios'
import axios from 'axios'

const { AUTH_URL = '', API_URL = '', AXIOS_PROXY } = process.env

export const axiosClient = axios.create({
  baseURL: API_URL,
  ...(AXIOS_PROXY === 'none' && { proxy: false }),
})

export const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: API_URL, issuer: 'general' }],
})

attachTokens(axiosClient, tokens)
