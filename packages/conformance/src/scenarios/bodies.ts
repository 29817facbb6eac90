import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

import { expect } from 'vitest'

import type { BodyKind, RequestBody } from '../driver.ts'
import type { Scenario, ScenarioGroup } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import type { TestClient } from '../test-client.ts'

const text = 'héllo wörld '.repeat(100)
const bytes = Uint8Array.from(Buffer.from(text))

/** Bodies that can be sent again. */
const replayable: readonly (() => RequestBody)[] = [
  () => ({ kind: 'string', value: text }),
  () => ({ kind: 'JSON', value: { a: [1, 'é'] } }),
  () => ({ kind: 'URLSearchParams', value: new URLSearchParams({ a: 'b c', é: '1' }) }),
  () => ({ kind: 'Buffer', value: Buffer.from(bytes) }),
  () => ({ kind: 'Uint8Array', value: bytes.slice() }),
  () => ({ kind: 'ArrayBuffer', value: bytes.slice().buffer }),
  () => ({ kind: 'Blob', value: new Blob([bytes]) }),
  () => ({ kind: 'FormData', value: form() }),
]

/** Bodies that can be read once. */
const once: readonly (() => RequestBody)[] = [
  () => ({ kind: 'Node stream', value: Readable.from([Buffer.from(bytes)]) }),
  () => ({ kind: 'web stream', value: new Blob([bytes]).stream() }),
  () => ({ kind: 'async generator', value: generate() }),
]

export const bodies: ScenarioGroup = {
  subject: 'A body',
  scenarios: [
    ...replayable.map((body) =>
      scenario('is sent again as it was after a 401', body, async (stage) => {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        const again = await echo(client, body())
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
        expect(again).toEqual(await echo(stage.bare(), body(), await tokens.getToken('weblink')))
        if (isOurBytes(body())) expect(again).toMatchObject({ sha256, length: bytes.length })
      }),
    ),
    ...once.map((body) =>
      scenario(
        'is sent whole with a live token, and its 401 surfaces at once: 1 send',
        body,
        async (stage) => {
          const { tokens, client } = stage.open()
          await stage.revoke(tokens)
          expect(await client.status({ url: 'echo', method: 'POST', body: body() })).toBe(401)
          expect(stage.calls()).toBe(1)
          expect(await echo(client, body())).toMatchObject({ sha256, length: bytes.length })
          expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
        },
      ),
    ),
  ],
}

const sha256 = createHash('sha256').update(bytes).digest('hex')

function scenario(name: string, body: () => RequestBody, run: Scenario['run']): Scenario {
  const { kind } = body()
  return {
    name: `of type ${kind} ${name}`,
    run,
    needs: { feature: `body: ${kind}`, instead: (stage) => isAsWithBareClient(stage, body) },
  }
}

/** What the client makes of a body that it does not take is not ours to change. */
async function isAsWithBareClient(stage: Stage, body: () => RequestBody): Promise<void> {
  const { tokens, client } = stage.open()
  const token = await tokens.getToken('weblink')
  const bare = await echo(stage.bare(), body(), token).catch(kindOf)
  expect(await echo(client, body()).catch(kindOf)).toEqual(bare)
}

function kindOf(error: unknown): unknown {
  const { name, code } = error as Error & { code?: unknown }
  return { name, code }
}

interface Echo {
  readonly sha256?: string
  readonly length: number
  readonly contentType: string
}

async function echo(
  client: TestClient,
  body: RequestBody,
  token?: { readonly value: string },
): Promise<Echo> {
  const headers = {
    ...(isOurBytes(body) && { 'content-type': 'text/x-own' }),
    ...(token && { authorization: `Bearer ${token.value}` }),
  }
  const response = await client.send({ url: 'echo', method: 'PATCH', headers, body })
  const { sha256: hash, ...rest } = JSON.parse(response.text) as Echo
  if (body.kind !== 'FormData') return { sha256: hash!, ...rest }
  // made anew for each send
  return JSON.parse(JSON.stringify(rest).replaceAll(/boundary=[^"]*/g, 'boundary')) as Echo
}

function isOurBytes({ kind }: RequestBody): boolean {
  return !(['JSON', 'URLSearchParams', 'FormData'] satisfies BodyKind[] as string[]).includes(kind)
}

function form(): FormData {
  const fields = new FormData()
  fields.set('a', 'b')
  fields.set('file', new Blob([bytes]), 'file.txt')
  return fields
}

async function* generate(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytes.slice(0, 100)
  yield bytes.slice(100)
}
