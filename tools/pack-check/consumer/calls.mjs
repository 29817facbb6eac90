// What every client must do on every runtime: node calls.mjs import, or require. Prints a line of JSON for each client,
// `{ client, error? }`, and fails the process if one fails.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const sandbox = JSON.parse(process.env.SANDBOX)
const load = process.argv[2] === 'require' ? createRequire(import.meta.url) : (name) => import(name)
const core = await load('@tokenlane/core')

for (const [client, send] of Object.entries(await clients())) {
  // undici is for Node: Bun has something else of that name, and Deno's `fetch` none of it
  if (client === 'undici' && (process.versions.bun ?? process.versions.deno)) continue
  const error = await mustWork(send).then(
    () => undefined,
    (reason) => reason?.stack ?? String(reason),
  )
  console.log(JSON.stringify({ client, error }))
  if (error !== undefined) process.exitCode = 1
}

/** Each client as `(tokens) => (url, { body?, signal? }) => the JSON of the answer`. */
async function clients() {
  const { createFetch } = await load('@tokenlane/fetch')
  const { attachTokens } = await load('@tokenlane/axios')
  const { gotTokens } = await load('@tokenlane/got')
  const { kyTokens } = await load('@tokenlane/ky')
  const { tokensInterceptor } = await load('@tokenlane/undici')
  const { default: axios } = await load('axios')
  const { default: got } = await load('got')
  const { default: ky } = await load('ky')
  const { Agent, request } = await load('undici')
  return {
    fetch(tokens) {
      const send = createFetch(tokens)
      return async (url, { body, signal } = {}) => {
        const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
        const response = await send(url, { ...(body && { ...json, body: JSON.stringify(body) }), signal })
        assert.equal(response.status, 200)
        return response.json()
      }
    },
    axios(tokens) {
      const client = axios.create()
      attachTokens(client, tokens)
      return async (url, { body, signal } = {}) => {
        const { data } = await client({ url, signal, ...(body && { method: 'POST', data: body }) })
        return data
      }
    },
    got(tokens) {
      const client = got.extend(gotTokens(tokens))
      return (url, { body, signal } = {}) =>
        client(url, { signal, ...(body && { method: 'POST', json: body }) }).json()
    },
    ky(tokens) {
      const client = ky.extend(kyTokens(tokens))
      return (url, { body, signal } = {}) =>
        client(url, { signal, ...(body && { method: 'POST', json: body }) }).json()
    },
    undici(tokens) {
      const dispatcher = new Agent().compose(tokensInterceptor(tokens))
      return async (url, { body, signal } = {}) => {
        const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
        const sent = { ...(body && { ...json, body: JSON.stringify(body) }), signal, dispatcher }
        const response = await request(url, sent)
        assert.equal(response.statusCode, 200)
        return response.body.json()
      }
    },
  }
}

async function mustWork(clientOf) {
  const { createTokenManager, generalIssuer, weblinkIssuer } = core
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials, revokeUrl } = sandbox
  const events = []
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl, credentials: credentials.general }),
      weblink: weblinkIssuer({ authUrl: weblinkAuthUrl, credentials: credentials.weblink }),
    },
    apis: [
      { baseUrl: apiUrl, issuer: 'general' },
      { baseUrl: weblinkUrl, issuer: 'weblink', ratePolicy: { limits: [{ quota: 10, window: 100 }] } },
    ],
    observe: ({ type }) => events.push(type),
  })
  const send = clientOf(tokens)
  const count = (wanted) => events.filter((type) => type === wanted).length

  // both APIs, each with the token of its own issuer
  for (const url of [apiUrl, weblinkUrl]) assert.equal((await send(`${url}records?page=1`)).total, 30)
  assert.equal(count('token.renewed'), 2)

  // a body arrives whole
  const body = { text: 'ü'.repeat(1_000) }
  assert.equal((await send(`${weblinkUrl}echo`, { body })).length, Buffer.byteLength(JSON.stringify(body)))

  // refused tokens cost one renewal, and no call: with a body, and many at once through the rate policy
  await fetch(revokeUrl)
  assert.equal((await send(`${weblinkUrl}echo`, { body })).method, 'POST')
  assert.equal(count('token.renewed'), 3)
  await fetch(revokeUrl)
  await Promise.all(Array.from({ length: 25 }, () => send(`${weblinkUrl}records?page=1`)))
  assert.equal(count('token.renewed'), 4)

  // an abort ends a call
  const signal = AbortSignal.timeout(20)
  await assert.rejects(send(`${weblinkUrl}slow?ms=600000`, { signal }))

  // a URL outside every API gets no token
  const outside = new URL('/outside/x', weblinkUrl).href
  assert.deepEqual(await send(outside), { authorization: false })

  await tokens.close()
  await assert.rejects(send(`${apiUrl}records?page=1`))
}
