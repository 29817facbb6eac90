import { createTokenManager, type TokenManager } from '@tokenlane/core'

import { openScriptedApi, type Script } from './scripted-api.ts'

/** Every status that some client takes for a redirect. */
export const redirectStatuses: readonly number[] = [300, 301, 302, 303, 304, 305, 306, 307, 308, 399]

const issuer = (name: string) => ({
  tokenEndpoint: `https://${name}.issuer.example/token`,
  credentials: { clientId: 'client', clientSecret: 'secret' },
  allowInsecureLoopback: true,
})

interface Seen {
  readonly place: string
  readonly authorization: string | undefined
}

/**
 * Sends calls to an API that redirects them, within itself and to every place that looks like it.
 *
 * @returns `astray`, the requests with a token that is not for them; `kept`, how many requests within the API had its
 * token; `outside`, how many were sent because of a redirect out of the API.
 */
export async function followRedirectsEverywhere(
  status: number,
  attach: (tokens: TokenManager) => (url: string) => Promise<unknown>,
): Promise<{ readonly astray: readonly Seen[]; readonly kept: number; readonly outside: number }> {
  const seen: Seen[] = []
  let home = ''
  const redirecting =
    (name: string): Script =>
    ({ url, headers }) => {
      const { pathname, searchParams } = new URL(url, 'http://loopback')
      const to = pathname === '/back' ? `${home}/api/end` : searchParams.get('to')
      seen.push({ place: `${name} ${headers.host} ${pathname}`, authorization: headers.authorization })
      return to === null ? { status: 200 } : { status, headers: { location: to } }
    }
  const server = await openScriptedApi(redirecting('home'))
  const other = await openScriptedApi(redirecting('other'))
  const otherOrigin = new URL(other.url).origin
  home = new URL(server.url).origin
  const { host, port } = new URL(home)
  const strange = new URL(otherOrigin).host

  const tokens = createTokenManager({
    issuers: { general: issuer('general'), weblink: issuer('weblink') },
    apis: [
      { baseUrl: `${home}/api/`, issuer: 'general' },
      { baseUrl: `${home}/other/`, issuer: 'weblink' },
    ],
    fetch: async (input) => {
      const { hostname } = new URL(new Request(input).url)
      return Response.json({ access_token: hostname, token_type: 'Bearer', expires_in: 3_600 })
    },
  })
  const inside = ['end', '/api/end', `${home}/api/end`, '/x/../api/end', `//${host}/api/end`, './%2e/end']
  const outside = [
    `${otherOrigin}/api/end`,
    `//${strange}/api/end`,
    `http:\\\\${strange}\\api\\end`,
    `/\\${strange}/api/end`,
    `http://localhost:${port}/api/end`,
    `http://${host}@${strange}/api/end`,
    `http://127.1:${new URL(otherOrigin).port}/api/end`,
    '/',
    '/apix/end',
    '/other/end',
    '../end',
    '%2e%2e/end',
    '/api/../end',
    '/api',
    '//',
    '/API/end',
    `${otherOrigin}/back`,
    `/back`,
    `/other/x?to=${encodeURIComponent(`${home}/api/end`)}`,
  ]
  const send = attach(tokens)
  const count = { kept: 0, outside: 0 }
  const astray: Seen[] = []
  for (const [place, targets] of Object.entries({ inside, outside }) as ['inside' | 'outside', string[]][])
    for (const target of targets) {
      seen.length = 0
      // what a client does not follow, it may refuse
      await send(`${home}/api/start?to=${encodeURIComponent(target)}`).catch(() => {})
      // the first is the call itself
      for (const request of seen.splice(1)) {
        if (place === 'outside') count.outside += 1
        if (request.authorization === undefined) continue
        const stays = place === 'inside' && request.place === `home ${host} /api/end`
        if (stays && request.authorization === 'Bearer general.issuer.example') count.kept += 1
        else astray.push(request)
      }
    }
  await Promise.all([tokens.close(), server.close(), other.close()])
  return { astray, ...count }
}
