import type { CreatePeer } from '../support/peer.ts'
import { axiosAuthRefresh } from './axios-auth-refresh.ts'
import { azurePipeline } from './azure-pipeline.ts'
import { badgateway } from './badgateway.ts'
import { cacheByHand, singleFlightByHand } from './by-hand.ts'
import { googleAuth } from './google-auth.ts'
import { mcpClient } from './mcp-client.ts'
import { msal } from './msal.ts'
import { tokenlane } from './tokenlane.ts'

/** By the name that tables show. */
export const peers: Readonly<Record<string, CreatePeer>> = {
  Tokenlane: tokenlane,
  'by hand: a cache': cacheByHand,
  'by hand: single flight': singleFlightByHand,
  '@badgateway/oauth2-client': badgateway,
  'google-auth-library': googleAuth,
  '@azure/core-rest-pipeline': azurePipeline,
  '@azure/msal-node': msal,
  '@modelcontextprotocol/client': mcpClient,
  'axios-auth-refresh': axiosAuthRefresh,
}
