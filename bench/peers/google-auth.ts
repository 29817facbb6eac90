import { OAuth2Client } from 'google-auth-library'

import { apiUrl, askForToken, type CreatePeer } from '../support/peer.ts'

/** With the refresh handler that it has for tokens of other issuers. */
export const googleAuth: CreatePeer = (fetch) => {
  const client = new OAuth2Client({ transporterOptions: { fetchImplementation: fetch, retry: false } })
  client.refreshHandler = async () => {
    const { token, lifetime } = await askForToken(fetch)
    return { access_token: token, expiry_date: Date.now() + lifetime }
  }
  return {
    authorize: () => client.getRequestHeaders(apiUrl),
    async call() {
      const { status } = await client.request({ url: apiUrl, validateStatus: () => true })
      return status
    },
  }
}
