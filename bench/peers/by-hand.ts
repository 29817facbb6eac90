import { askForToken, callWith, type CreatePeer } from '../support/peer.ts'

/** A cache as most people write it first: a call that finds no live token asks for one. */
export const cacheByHand: CreatePeer = (service) => {
  let token = ''
  let expiresAt = 0
  const authorize = async (): Promise<string> => {
    if (Date.now() >= expiresAt) {
      const answer = await askForToken(service)
      token = answer.token
      expiresAt = Date.now() + answer.lifetime
    }
    return `Bearer ${token}`
  }
  return { authorize, call: async (url = service.apiUrl) => callWith(service, url, await authorize()) }
}

/** The same with one token request at a time, and a second try after a 401. */
export const singleFlightByHand: CreatePeer = (service) => {
  let token: string | undefined
  let expiresAt = 0
  let flight: Promise<string> | undefined
  const renew = async (): Promise<string> => {
    try {
      const answer = await askForToken(service)
      token = answer.token
      expiresAt = Date.now() + answer.lifetime
      return token
    } finally {
      flight = undefined
    }
  }
  const authorize = async (): Promise<string> => {
    const live = token !== undefined && Date.now() < expiresAt ? token : await (flight ??= renew())
    return `Bearer ${live}`
  }
  return {
    authorize,
    async call(url = service.apiUrl) {
      const status = await callWith(service, url, await authorize())
      if (status !== 401) return status
      token = undefined
      return callWith(service, url, await authorize())
    },
  }
}
