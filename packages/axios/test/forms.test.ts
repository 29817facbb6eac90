import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'

import { openScriptedApi, type SeenRequest } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import newest, { type AxiosStatic } from 'axios'
import axios112 from 'axios-1.12'
import axios116 from 'axios-1.16'
import axios17 from 'axios-1.7'
import axiosRetry from 'axios-retry'
import PackageFormData from 'form-data'
import { describe, expect, onTestFinished, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

type Call = readonly [data: object, config?: object]
type Calls = Record<string, () => Call>

const bytes = Buffer.from('bytes')
const multipart = { headers: { 'Content-Type': 'multipart/form-data' } }
const plain = { a: 'b', list: [1, 2], nested: { file: bytes }, at: new Date(0), nothing: null }
const form = (fill: (given: PackageFormData) => void, Class = PackageFormData): Call => {
  const made = new Class()
  fill(made)
  return [made]
}

const ofTextAndBytes: Calls = {
  'that axios makes of plain data': () => [plain, multipart],
  'that axios makes of nothing': () => [{}, multipart],
  'of the form-data package': () =>
    form((given) => {
      given.append('a', 'é')
      given.append('n', 7)
      given.append('file', bytes, { filename: 'a.txt', knownLength: bytes.length })
    }),
  'whose parts have headers of their own': () =>
    form((given) => given.append('a', 'b', { header: { 'X-Part': 'é' }, contentType: 'text/x' })),
  'of a class of the caller': () =>
    form(
      (given) => given.append('a', 'b'),
      class extends PackageFormData {
        override append(name: string, value: unknown): void {
          super.append(`own-${name}`, value)
        }
      },
    ),
}

const withStreams: Calls = {
  'that axios makes of a stream': () => [{ file: createReadStream(import.meta.filename) }, multipart],
  'with a stream': () => form((given) => given.append('a', Readable.from(['b']))),
  'with a stream of a known length': () =>
    form((given) => given.append('a', Readable.from(['b']), { knownLength: 1 })),
  'that says a part when it is read': () =>
    form((given) => given.append('a', (next: (part: string) => void) => next('b'))),
}

const copies = Object.entries({ '1.7': axios17, '1.12': axios112, '1.16': axios116, newest }).map(
  ([version, copy]) => ({ version, copy }),
)

// softonic/axios-retry#277, axios/axios#6454
describe.each(copies)('with axios $version, after a 401, a form', ({ copy }) => {
  const axios = copy as unknown as AxiosStatic

  test.each(Object.entries(ofTextAndBytes))('%s is sent again as it was', async (_, call) => {
    const requests = await sent(axios, call)
    const [bare, ...ours] = requests.map(shown)
    expect(ours).toEqual([bare, bare])
  })

  // with axios alone, the second request waits for ever for a form that was read
  test.each(Object.entries(ofTextAndBytes))('%s is sent again by axios-retry, too', async (_, call) => {
    const api = await openScriptedApi((_request, number) => ({ status: number === 1 ? 503 : 200 }))
    onTestFinished(() => api.close())
    const client = axios.create({ proxy: false })
    axiosRetry(client, { retries: 1, retryCondition: () => true })
    attachTokens(client, fakeTokens({ apis: [api.url] }))
    expect((await client.post(api.url, ...call())).status).toBe(200)
    const [first, second] = api.requests.map(({ headers, body }) => [
      headers['content-type'],
      body.toString(),
    ])
    expect(second).toEqual(first)
  })

  test.each(Object.entries(withStreams))('%s is sent once', async (_, call) => {
    expect(await sent(axios, call)).toHaveLength(2)
  })
})

/** What reaches an API by axios alone, and then by a call whose token is refused. */
async function sent(axios: AxiosStatic, call: () => Call): Promise<readonly SeenRequest[]> {
  const api = await openScriptedApi()
  onTestFinished(() => api.close())
  const tokens = fakeTokens({ apis: [api.url] })
  const client = axios.create({ proxy: false })
  // axios says too short a length of some
  await client.post(api.url, ...call()).catch(() => {})
  attachTokens(client, tokens)
  tokens.refuseOnce()
  await client.post(api.url, ...call()).catch(() => {})
  return api.requests
}

/** A request but for its token, and for the boundary that each form makes anew. */
function shown({ headers, body }: SeenRequest): unknown {
  const { authorization: _, ...rest } = headers
  const boundary = /boundary=(.*)/.exec(headers['content-type'] ?? '')?.[1] ?? ''
  return JSON.parse(JSON.stringify([rest, body.toString()]).replaceAll(boundary, 'BOUNDARY'))
}
