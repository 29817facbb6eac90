import { OAuth2Client } from 'google-auth-library'

import { askForToken, type CreatePeer } from '../support/peer.ts'

/** With the refresh handler that it has for tokens of other issuers. */
export const googleAuth: CreatePeer = (service) => {
  const { fetch, apiUrl } = service
  const client = new OAuth2Client({ transporterOptions: { fetchImplementation: fetch, retry: false } })
  client.refreshHandler = async () => {
    const { token, lifetime } = await askForToken(service)
    return { access_token: token, expiry_date: Date.now() + lifetime }
  }
  return {
    authorize: () => client.getRequestHeaders(apiUrl),
    async call(url = apiUrl) {
      const { status } = await client.request({ url, validateStatus: () => true })
      return status
    },
  }
}
