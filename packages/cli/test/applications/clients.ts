// The bootstrap of an application that exports its HTTP clients and an agent beside its token manager.
import { Agent } from 'node:https'

import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { attachTokens } from '@tokenlane/axios'
import axios from 'axios'
import got from 'got'

const { AUTH_URL = '', API_URL = '', AXIOS_PROXY, AXIOS_TLS, GOT_TLS, ANY_CERTIFICATE } = process.env

const versionOf = (text: string | undefined): { minVersion?: 'TLSv1' } =>
  text ? { minVersion: 'TLSv1' } : {}
const rejectUnauthorized = ANY_CERTIFICATE === undefined

export const axiosClient = axios.create({
  baseURL: API_URL,
  httpsAgent: new Agent(versionOf(AXIOS_TLS)),
  ...(AXIOS_PROXY === 'none' && { proxy: false }),
})

export const gotClient = got.extend({ agent: { https: new Agent(versionOf(GOT_TLS)) } })
export const agent = new Agent(rejectUnauthorized ? {} : { rejectUnauthorized })

export const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: API_URL, issuer: 'general' }],
})

attachTokens(axiosClient, tokens)
