import { createReadStream } from 'node:fs'
import { PassThrough } from 'node:stream'

import { expect, vi } from 'vitest'

import { type BodyKind, errorKind, type RequestBody } from '../../driver.ts'
import type { Scenario, ScenarioGroup } from '../../scenario.ts'
import { oneByOne, patiently, type Stage } from '../../stage.ts'
import type { TestClient } from '../../test-client.ts'

/** A body, and how its source goes away. */
interface Source {
  readonly body: RequestBody
  readonly end: () => void
}

interface Kind {
  readonly kind: BodyKind
  /** Whether every bare client ends its call, and ours with the same error. */
  readonly ends: boolean
  readonly source: () => Source
}

const sources: Readonly<Record<string, Kind>> = {
  // axios/axios#3780, axios/axios#4306: the other side of a proxied upload disconnects
  'is destroyed': {
    kind: 'Node stream',
    ends: false,
    source: () => nodeStream((stream) => stream.destroy()),
  },
  fails: {
    kind: 'Node stream',
    ends: true,
    source: () => nodeStream((stream) => stream.destroy(new Error('the source failed'))),
  },
  // sindresorhus/got#801
  'is a file that is not there': { kind: 'Node stream', ends: true, source: missingFile },
  'is a web stream that fails': { kind: 'web stream', ends: false, source: webStream },
}

export const uploads: ScenarioGroup = {
  subject: 'An upload whose source',
  scenarios: Object.entries(sources).flatMap(([what, kind]) => {
    const scenarios = [
      scenario(`${what} while its call waits for a token`, kind, async (stage) => {
        const renewed = Promise.withResolvers<void>()
        const { client } = stage.open({ tokensCome: renewed.promise, ratePolicy: oneByOne })
        const { body, end } = kind.source()
        const failed = client.failure({ url: 'echo', method: 'POST', body })
        await vi.waitFor(() => expect(stage.tokenRequests()).toBe(1), patiently)
        end()
        const error = await failed
        renewed.resolve()
        return { error, client }
      }),
      scenario(`${what} while its call waits for its turn`, kind, async (stage) => {
        const { tokens, client } = stage.open({ ratePolicy: oneByOne })
        const held = await stage.hold(client)
        const { body, end } = kind.source()
        let isOver = false
        const failed = client.failure({ url: 'echo', method: 'POST', body }).finally(() => (isOver = true))
        await vi.waitFor(() => expect(isOver || tokens.status().apis[1]?.queued === 1).toBe(true), patiently)
        end()
        const error = await failed
        await held.release()
        stage.sandbox.control.resetCounts()
        return { error, client }
      }),
    ]
    if (kind.ends) scenarios.push(sent(what, kind))
    return scenarios
  }),
}

/** The same once the call has its token and its turn. */
function sent(what: string, { kind, source }: Kind): Scenario {
  return {
    name: `${what} while it is sent ends the call as with the bare client, and frees its slot`,
    needs: { feature: `body: ${kind}`, instead: isServed },
    async run(stage) {
      const server = await stage.scripted()
      const { tokens, client } = stage.open({ apis: [{ baseUrl: server.url, ratePolicy: oneByOne }] })
      await tokens.getToken('weblink')
      const error = await failure(client, server.url, source())
      expect(errorKind(error)).toEqual(errorKind(await bareFailure(stage, source())))
      expect(await client.status({ url: server.url })).toBe(200)
    },
  }
}

async function isServed(stage: Stage): Promise<void> {
  expect((await stage.open().client.send({ url: 'records' })).status).toBe(200)
}

type Run = (stage: Stage) => Promise<{ error: unknown; client: TestClient }>

function scenario(name: string, { kind, ends, source }: Kind, run: Run): Scenario {
  return {
    name: `${name} ends the call as with the bare client, sends nothing, and frees its slot`,
    needs: { feature: `body: ${kind}`, instead: isServed },
    async run(stage) {
      const { error, client } = await run(stage)
      expect(stage.calls()).toBe(0)
      expect(await client.status({ url: 'records' })).toBe(200)
      expect(stage.errors.statusOf(error)).toBeUndefined()
      if (ends) expect(errorKind(error)).toEqual(errorKind(await bareFailure(stage, source())))
    },
  }
}

/** What the bare client makes of a body that ends while the server reads it. */
async function bareFailure(stage: Stage, source: Source): Promise<unknown> {
  return failure(stage.bare(), (await stage.scripted()).url, source)
}

async function failure(client: TestClient, url: string, { body, end }: Source): Promise<unknown> {
  // before bare fetch reads a stream, its failure is uncaught
  if (body.kind === 'Node stream') body.value.on('error', () => {})
  const failed = client.failure({ url, method: 'POST', body })
  setImmediate(end)
  return await failed
}

function nodeStream(end: (stream: PassThrough) => void): Source {
  const stream = new PassThrough()
  // listened to by nobody until it is sent
  stream.write('begin')
  return { body: { kind: 'Node stream', value: stream }, end: () => end(stream) }
}

function missingFile(): Source {
  const value = createReadStream('/there/is/no/such/file')
  return { body: { kind: 'Node stream', value }, end() {} }
}

function webStream(): Source {
  let fail!: (reason: Error) => void
  const value = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => void (fail = (reason) => controller.error(reason)),
  })
  return { body: { kind: 'web stream', value }, end: () => fail(new Error('the source failed')) }
}
