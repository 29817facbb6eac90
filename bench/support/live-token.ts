import { observersOf } from '../../packages/core/src/manager/observers.ts'
import { RenewingToken } from '../../packages/core/src/token/renewing-token.ts'
import { askIssuer } from '../../packages/core/src/issuer/token-request.ts'
import { protocolOf, secretInForm, type TokenEndpoint } from '../../packages/core/src/issuer/protocol.ts'
import type { TokenSource } from '../../packages/core/src/issuer/token-source.ts'
import { Router } from '../../packages/core/src/send/router.ts'
import { apiUrl, tokenUrl } from './peer.ts'

/**
 * The part of core that every call passes, without the send rule around it: which API a URL belongs to, and the
 * `Authorization` of its issuer's live token.
 */
export async function openHotPath(
  fetch: typeof globalThis.fetch,
): Promise<(url: string) => string | undefined> {
  const { emit } = observersOf([], {})
  const client = { clientId: 'client', clientSecret: 'secret' }
  const endpoint: TokenEndpoint = {
    issuer: 'general',
    url: new URL(tokenUrl),
    isDiscovered: false,
    option: 'tokenEndpoint',
    credentialsOption: 'credentials',
    tokenPath: undefined,
    protocol: protocolOf({}),
    proofs: [secretInForm],
    scope: undefined,
    tokenTypes: undefined,
    headers: {},
    parameters: [],
    fetch,
    beforeRequest: () => {},
    manager: {},
  }
  const issuing = askIssuer(endpoint, 5_000)
  const source: TokenSource = { obtain: (reason, wait) => issuing.obtain(client, reason, wait) }
  const token = new RenewingToken(source, {
    ...endpoint,
    credentials: { initial: [client] },
    renewBefore: undefined,
    maxWait: 15_000,
    emit,
  })
  await token.wait(undefined)
  const apis = [
    { baseUrl: new URL('/', apiUrl).href, token },
    { baseUrl: 'https://weblink.example.com/api/', token },
  ]
  const router = new Router(apis, emit)
  return (url) => {
    const live = router.match(url)?.token.live()
    return live && `Bearer ${live.value}`
  }
}
