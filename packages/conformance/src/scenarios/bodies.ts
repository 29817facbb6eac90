import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'

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
      scenario('is resent unchanged after a 401', body, async (stage) => {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        const again = await echo(client, body())
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
        expect(again).toEqual(await echo(stage.bare(), body(), await tokens.getToken('weblink')))
        if (isOurBytes(body())) expect(again).toMatchObject(await asSent())
      }),
    ),
    ...once.map((body) =>
      scenario('is sent once, in full; a 401 goes straight to the caller', body, async (stage) => {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        expect(await client.status({ url: 'echo', method: 'POST', body: body() })).toBe(401)
        expect(stage.calls()).toBe(1)
        expect(await echo(client, body())).toMatchObject(await asSent())
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      }),
    ),
    scenario('that is not sent for want of a token leaves no rejection behind', file, async (stage) => {
      const { tokens, client } = stage.open()
      await tokens.close()
      const unhandled: unknown[] = []
      const keep = (reason: unknown): void => void unhandled.push(reason)
      process.on('unhandledRejection', keep)
      await client.refusal({ url: 'echo', method: 'POST', body: file() })
      // Node reads a form from the start, so that it has read that of the call when it has read another one
      await new Response(file().value as FormData).arrayBuffer()
      await turn()
      process.off('unhandledRejection', keep)
      expect(unhandled).toEqual([])
    }),
  ],
}

function file(): RequestBody {
  const value = new FormData()
  value.set('file', new File(['x'.repeat(200_000)], 'file.txt'))
  return { kind: 'FormData', value }
}

/** What the API says of our bytes where they arrive whole. By Web Crypto, which every runtime has. */
async function asSent(): Promise<Pick<Echo, 'length' | 'sha256'>> {
  const hash = await crypto.subtle.digest('SHA-256', bytes)
  return { length: bytes.length, sha256: Buffer.from(hash).toString('hex') }
}

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
  const seen = JSON.parse(response.text) as Echo
  return body.kind === 'FormData' ? withoutBoundary(seen) : seen
}

/** The boundary is made anew for each send, of any length (RFC 2046 §5.1.1); it stands before both fields and at the end. */
function withoutBoundary({ length: whole, ...echoed }: Echo): Omit<Echo, 'sha256'> {
  const boundary = /boundary="?([^";]+)/.exec(echoed.contentType)?.[1]
  const length = whole - 3 * (boundary?.length ?? 0)
  let rest = JSON.stringify({ ...echoed, length, sha256: undefined })
  if (boundary !== undefined) rest = rest.replaceAll(boundary, 'boundary')
  return JSON.parse(rest.replace(`"content-length":"${whole}"`, `"content-length":"${length}"`)) as Echo
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
