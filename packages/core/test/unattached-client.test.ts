// A client that nothing is attached to is seen by the channels on which Node and undici publish every response.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'

import { createTenants } from '../src/tenants.ts'
import { createTokenManager, type TokenlaneEvent, type TokenManagerOptions } from '../src/index.ts'
import { useServer } from './use-server.ts'

/** The first part of a path is the status of the response. */
const server = useServer(({ url = '' }, response) => void response.writeHead(Number(url.split('/')[1])).end())

type Client = (url: string, headers?: Record<string, string> | readonly string[]) => Promise<unknown>

const clients: Record<string, Client> = {
  async 'node:http'(url, headers = {}) {
    const sent = request(url, { headers }).end()
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
    await once(response.resume(), 'end')
  },
  fetch: async (url, headers = {}) => (await fetch(url, { headers: headers as never })).text(),
}
const every = Object.entries(clients)

/** Returns the options of an API that answers every call with this status. */
function service(status: number, path = 'v1') {
  const events: TokenlaneEvent[] = []
  const api = `${server.url}/${status}/${path}/`
  const options: TokenManagerOptions = {
    issuers: {
      general: {
        tokenEndpoint: `${api}token`,
        credentials: { clientId: 'client', clientSecret: 'secret' },
        allowInsecureLoopback: true,
      },
    },
    apis: [{ baseUrl: api, issuer: 'general' }],
    observe: (event) => events.push(event),
  }
  return { api, events, options }
}

test.each(every)(
  'a 401 to a call of %s without a token is said once, with no more than the API',
  async (_, call) => {
    const { api, events, options } = service(401)
    const tokens = createTokenManager(options)
    for (const path of ['a?secret=1', 'b']) await call(api + path)
    expect(events).toEqual([{ type: 'client.unattached', api }])
    await tokens.close()
  },
)

test.each(every)(
  'another status of a call of %s, an Authorization, another URL and a token request are no matter',
  async (_, call) => {
    const fine = service(200)
    const { api, events, options } = service(401)
    const managers = [fine, { options }].map((each) => createTokenManager(each.options))
    // the APIs of another manager may be above the place where this one requests tokens
    const above = service(401, '')
    managers.push(
      createTokenManager({ ...above.options, apis: [{ baseUrl: `${server.url}/401`, issuer: 'general' }] }),
    )
    await call(fine.api)
    await call(api, { authorization: 'Basic eA==' })
    await call(`${server.url}/402/`)
    await call(`${api}token`)
    expect([...fine.events, ...events, ...above.events]).toEqual([])
    await Promise.all(managers.map((tokens) => tokens.close()))
  },
)

test('without an observer it is a warning that can be turned off by its code', async () => {
  const { api, options } = service(401, 'unobserved')
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  await using _ = createTokenManager({ ...options, observe: undefined })
  for (let call = 0; call < 2; call += 1) await fetch(api)
  expect(warn.mock.calls).toEqual([
    [
      `${api}: answered 401 to a call without a token: attach tokens to the client that made it, unless a redirect led there`,
      { type: 'TokenlaneWarning', code: 'TOKENLANE_CLIENT_UNATTACHED' },
    ],
  ])
})

test('headers that Node was given as a list are not seen, so nothing is said', async () => {
  const { api, events, options } = service(401)
  await using _ = createTokenManager(options)
  await clients['node:http']!(api, ['host', new URL(api).host])
  expect(events).toEqual([])
})

test('of the managers of an API each says it, until it is closed', async () => {
  const one = service(401)
  const two = service(401)
  const first = createTokenManager(one.options)
  await using _ = createTokenManager(two.options)
  await first.close()
  await fetch(one.api)
  expect([one.events, two.events]).toEqual([[], [{ type: 'client.unattached', api: one.api }]])
})

test('of many tenants one that is there says it, and does not say whose call it was', async () => {
  const { api, events, options } = service(401)
  await using tenants = createTenants({ options: () => options })
  for (const id of ['a', 'b']) tenants.get(id).route(api)
  await tenants.get('a').close()
  for (let call = 0; call < 2; call += 1) await fetch(api)
  expect(events).toEqual([{ type: 'client.unattached', api }])
})

test('a token request that the issuer refuses, and calls with a token that the API refuses, are none', async () => {
  const { api, events, options } = service(401)
  await using tokens = createTokenManager(options)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: expect.any(String) as string })
  await fetch(api, { headers: { authorization: 'Bearer old' } })
  expect(events.filter(({ type }) => type === 'client.unattached')).toEqual([])
})

test('nothing listens once each manager is closed or dropped', async () => {
  const program = fileURLToPath(new URL('listening-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program])
  expect(stdout.split('\n')).toEqual(['false,false', 'true,true 1', 'false,false', ''])
})

test('a 401 beside the APIs of an origin is a warning without an observer, since nothing else would say it', async () => {
  const { api, options } = service(401, 'v2')
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  await using _ = createTokenManager({ ...options, observe: undefined })
  await fetch(`${server.url}/200/v1/`)
  expect(warn).not.toHaveBeenCalled()
  for (let call = 0; call < 2; call += 1) await fetch(`${server.url}/401/v1/`)
  expect(warn.mock.calls).toEqual([
    [
      `${server.url}/401/v1/: matches no API and gets no token; APIs on the same origin: ${api}`,
      { type: 'TokenlaneWarning', code: 'TOKENLANE_ROUTE_MISSED' },
    ],
  ])
})
