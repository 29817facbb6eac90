// A client of npm, named by the argument, as a program for `tokenlane judge`.
import { setTimeout as sleep } from 'node:timers/promises'

import { azurePipeline } from '../peers/azure-pipeline.ts'
import { badgateway } from '../peers/badgateway.ts'
import { cacheByHand, singleFlightByHand } from '../peers/by-hand.ts'
import { googleAuth } from '../peers/google-auth.ts'
import { msal } from '../peers/msal.ts'
import { openidClient } from '../peers/openid-client.ts'
import { simpleOauth2Peer } from '../peers/simple-oauth2.ts'
import type { CreatePeer } from '../support/peer.ts'
import { axiosAuthRefresh } from './clients/axios-auth-refresh.ts'
import { mcpClient } from '../peers/mcp-client.ts'

const peers: Readonly<Record<string, CreatePeer>> = {
  '@azure/core-rest-pipeline': azurePipeline,
  '@azure/msal-node': msal,
  '@badgateway/oauth2-client': badgateway,
  '@modelcontextprotocol/client': mcpClient,
  'axios-auth-refresh': axiosAuthRefresh,
  'by hand: a cache': cacheByHand,
  'by hand: single flight': singleFlightByHand,
  'google-auth-library': googleAuth,
  'openid-client': openidClient,
  'simple-oauth2': simpleOauth2Peer,
}

const [, , name = ''] = process.argv
const create = peers[name]
if (create === undefined) throw new Error(`Cannot call: no client is called ${name}`)
// a client's own business
process.on('unhandledRejection', () => {})

const variable = (given: string): string => process.env[given] ?? ''
const apis = [
  // msal-node always sends a scope, and the general issuer has none
  ...(name === '@azure/msal-node' ? [] : [['GENERAL', variable('API_URL')] as const]),
  ['WEBLINK', variable('WEBLINK_URL')] as const,
]
for (const [prefix, baseUrl] of apis) {
  const scope = variable(`${prefix}_SCOPE`)
  const peer = create({
    fetch: globalThis.fetch,
    tokenUrl: variable(`${prefix}_TOKEN_URL`),
    apiUrl: baseUrl,
    clientId: variable(`${prefix}_CLIENT_ID`),
    clientSecret: variable(`${prefix}_CLIENT_SECRET`),
    ...(scope !== '' && { scope }),
  })
  let number = 0
  const caller = async (): Promise<never> => {
    for (;;) {
      number += 1
      await peer.call(`${baseUrl}records/INV-${String(number).padStart(7, '0')}`).catch(() => {})
      await sleep(20)
    }
  }
  for (let index = 0; index < Number(variable('CALLERS')); index += 1) void caller()
}
