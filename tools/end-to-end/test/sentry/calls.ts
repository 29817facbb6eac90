// Makes calls under Sentry, and prints as JSON what Sentry saw of them.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import * as Sentry from '@sentry/node'

/** An item of what Sentry sends: its header, and its content. */
type Item = readonly [{ readonly type: string }, { readonly items?: readonly Span[] }]
interface Span {
  readonly attributes?: Readonly<Record<string, { readonly value?: unknown }>>
}

let items: Item[] = []
Sentry.init({
  dsn: 'https://key@sentry.example/1',
  tracesSampleRate: 1,
  dataCollection: { httpHeaders: { request: true, response: true } },
  // the same error of another client is another one
  integrations: (all) => all.filter(({ name }) => name !== 'Dedupe'),
  transport: () => ({
    async send([, sent]) {
      items.push(...(sent as unknown as Item[]))
      return {}
    },
    flush: async () => true,
  }),
})

// after `init`, as Sentry says
const { fakeTokens } = await import('@tokenlane/core/testing')
const { attachTokens } = await import('@tokenlane/axios')
const { createFetch, installTokens } = await import('@tokenlane/fetch')
const { gotTokens } = await import('@tokenlane/got')
const { kyTokens } = await import('@tokenlane/ky')
const { tokensInterceptor } = await import('@tokenlane/undici')
const { default: axios } = await import('axios')
const { default: got } = await import('got')
const { default: ky } = await import('ky')
const { Agent, request } = await import('undici')

let requests: { readonly authorization: string; readonly isTraced: boolean }[] = []
const server = createServer(({ headers, url }, response) => {
  requests.push({
    authorization: headers.authorization ?? '',
    isTraced: headers['sentry-trace'] !== undefined,
  })
  if (url === '/broken') {
    response.destroy()
    return
  }
  response.writeHead(requests.length === 1 ? 401 : 200, {
    'www-authenticate': 'Bearer error="invalid_token"',
  })
  response.end('{}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const tokens = fakeTokens({ apis: [url] })

const withAxios = axios.create({ proxy: false })
attachTokens(withAxios, tokens)
const withGot = got.extend(gotTokens(tokens), { retry: { limit: 0 } })
const withKy = ky.extend(kyTokens(tokens)).extend({ retry: 0 })
const dispatcher = new Agent().compose(tokensInterceptor(tokens))

const clients: Readonly<Record<string, (to: string) => Promise<unknown>>> = {
  fetch: createFetch(tokens),
  async installed(to) {
    const uninstall = installTokens(tokens)
    await fetch(to).finally(uninstall)
  },
  axios: (to) => withAxios.get(to),
  got: (to) => withGot(to),
  ky: (to) => withKy.get(to),
  undici: async (to) => (await request(to, { dispatcher })).body.dump(),
}

async function seenOf(send: (to: string) => Promise<unknown>): Promise<object> {
  requests = []
  items = []
  await Sentry.startSpan({ name: 'all' }, () => send(url))
  const traces = requests.map(({ isTraced }) => isTraced)
  await Sentry.flush()
  const spans = items.flatMap(([, content]) => content.items ?? [])
  // not those of the server, which is in this process too
  const attempts = spans.filter(({ attributes }) => attributes?.['sentry.op']?.value === 'http.client')
  try {
    await send(`${url}broken`)
  } catch (error) {
    Sentry.captureException(error, { extra: { error } })
  }
  await Sentry.flush()
  const sent = JSON.stringify(items)
  return {
    traces,
    statuses: attempts.map(({ attributes }) => attributes?.['http.response.status_code']?.value),
    failures: items.filter(([{ type }]) => type === 'event').length,
    showsToken: requests.some(({ authorization }) => sent.includes(authorization.slice('Bearer '.length))),
  }
}

const seen: Record<string, object> = {}
for (const [client, send] of Object.entries(clients)) seen[client] = await seenOf(send)
process.stdout.write(JSON.stringify(seen))
server.close()
process.exit()
