import axios from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'

import { askForToken, type CreatePeer } from '../support/peer.ts'

/** As its documentation shows: the token on every request, a new one after a 401. */
export const axiosAuthRefresh: CreatePeer = (service) => {
  const { fetch, apiUrl } = service
  const client = axios.create({ adapter: 'fetch', env: { fetch }, validateStatus: (status) => status < 400 })
  let token = 'none'
  client.interceptors.request.use((config) => {
    config.headers.set('Authorization', `Bearer ${token}`)
    return config
  })
  // axios has its types twice, for ESM and for CommonJS
  createAuthRefresh(client as never, async () => {
    const answer = await askForToken(service)
    token = answer.token
  })
  return {
    async call(url = apiUrl) {
      const { status } = await client.get(url)
      return status
    },
  }
}
