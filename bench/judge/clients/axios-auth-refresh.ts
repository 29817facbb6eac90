import axios from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'

import { askForToken, type CreatePeer } from '../../support/peer.ts'

/** As its documentation shows: the token on every request, a new one after a 401. The first one is requested at the start. */
export const axiosAuthRefresh: CreatePeer = (service) => {
  const client = axios.create({ adapter: 'fetch' })
  let token: string | undefined
  const logIn = async (): Promise<void> => {
    const answer = await askForToken(service)
    token = answer.token
  }
  const loggedIn = logIn()
  client.interceptors.request.use((config) => {
    config.headers.set('Authorization', `Bearer ${token}`)
    return config
  })
  // axios has its types twice, for ESM and for CommonJS
  createAuthRefresh(client as never, logIn)
  return {
    async call(url = service.apiUrl) {
      await loggedIn
      const { status } = await client.get(url)
      return status
    },
  }
}
