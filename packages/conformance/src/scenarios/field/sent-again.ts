import { expect } from 'vitest'

import type { ScenarioRequest } from '../../driver.ts'
import type { Scenario, ScenarioGroup } from '../../scenario.ts'
import { rejection, type ScriptedResponse, type SeenRequest } from '../../scripted-api.ts'
import { oneByOne, type Stage } from '../../stage.ts'

/** What token code that people write by hand makes of a call that it sends again. */
export const sentAgain: ScenarioGroup = {
  subject: 'A call that is sent again after a 401',
  scenarios: [
    again('has the same path, query and headers, byte for byte, but for the token', {
      path: "a%20b/c;d=e?q=a+b%2Bc&list[]=1&list[]=2&empty=&e=%C3%A9'()*",
      headers: { 'X-Trace': 'a, b', 'if-match': '"v1"' },
    }),
    // r-lib/httr#499
    again('as a HEAD ends, without a body', { method: 'HEAD' }),
    // thomaslazar/abs-cli#89
    again(
      'as a DELETE has its body both times',
      { method: 'DELETE', body: { kind: 'JSON', value: { ids: [1, 2] } } },
      'body: JSON',
    ),
    again('gets an empty 204 as it is', {}, undefined, { status: 204 }),
    // Codex-/await-remote-run#320
    again(
      'gets a 304 for what it has, and frees its slot',
      { headers: { 'if-none-match': '"v1"' } },
      undefined,
      {
        status: 304,
        headers: { etag: '"v1"' },
      },
    ),
    {
      name: 'finds a new connection where the API closes the first with its 401',
      async run(stage) {
        const closing = { ...rejection, headers: { ...rejection.headers, connection: 'close' } }
        const { requests, client, url } = await open(stage, (number) =>
          number === 1 ? closing : { status: 200 },
        )
        expect(await client.status({ url })).toBe(200)
        expect(requests.length).toBe(2)
      },
    },
    {
      // Flyrell/axios-auth-refresh#54, vlki/refresh-fetch#13
      name: 'has the new token, and not the one that was refused',
      async run(stage) {
        const { requests, client, url } = await open(stage, (number) =>
          number === 1 ? rejection : { status: 200 },
        )
        expect(await client.status({ url })).toBe(200)
        const [first, second] = requests.map(({ headers }) => headers.authorization)
        expect(second).toMatch(/^Bearer ./)
        expect(second).not.toBe(first)
      },
    },
    {
      name: 'shows its caller nothing of the 401, such as its cookies',
      async run(stage) {
        const refusal = {
          ...rejection,
          headers: { ...rejection.headers, 'set-cookie': 'refused=1', 'x-from': '401' },
        }
        const { client, url } = await open(stage, (number) =>
          number === 1 ? refusal : { status: 200, headers: { 'x-from': '200' }, body: 'fine' },
        )
        const { status, headers, text } = await client.send({ url })
        expect([status, headers.get('x-from'), headers.get('set-cookie'), text]).toEqual([
          200,
          '200',
          null,
          'fine',
        ])
      },
    },
  ],
}

/** A call that gets this response at its second try, and is otherwise as that of a client alone. */
function again(
  name: string,
  { path = 'a', ...request }: Omit<ScenarioRequest, 'url'> & { readonly path?: string },
  feature?: 'body: JSON',
  answer: ScriptedResponse = { status: 200 },
): Scenario {
  const send = async (stage: Stage): Promise<void> => {
    const { requests, client, url } = await open(stage, (number) => (number === 2 ? answer : rejection))
    expect(await client.status({ url: url + path, ...request })).toBe(answer.status)
    const bare = await stage.scripted(() => answer)
    await stage.bare().status({ url: bare.url + path, ...request })
    const [expected] = bare.requests.map(shown)
    expect(requests.map(shown)).toEqual([expected, expected])
  }
  return { name, run: send, ...(feature && { needs: { feature, instead: refused } }) }
}

async function refused(stage: Stage): Promise<void> {
  const { client, url } = await open(stage, () => ({ status: 200 }))
  expect(await client.status({ url })).toBe(200)
}

/** An API with one slot, whose token is about to be refused. */
async function open(stage: Stage, answer: (number: number) => ScriptedResponse) {
  const api = await stage.scripted((_, number) => answer(number))
  const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy: oneByOne }] })
  await stage.revoke(tokens)
  return { requests: api.requests, client, url: api.url }
}

/** A request as it was on the wire, but for what differs from one server to another, and the token. */
function shown({ method, url, rawHeaders, body }: SeenRequest): object {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
  const headers = lines.filter((line) => !/^(?:host|authorization|connection):/i.test(line))
  return { method, url, headers: new Set(headers), body: body.toString() }
}
