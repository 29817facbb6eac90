import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'

import { expect } from 'vitest'

import { type BodyKind, errorKind, type RequestBody } from '../../driver.ts'
import type { Scenario, ScenarioGroup } from '../../scenario.ts'
import type { TestClient } from '../../test-client.ts'

/** A body, and whether the client has let go of it. */
interface Upload {
  readonly body: RequestBody
  readonly isLetGo: () => boolean
}

const uploads: readonly [BodyKind, () => Upload][] = [
  ['Node stream', nodeStream],
  ['web stream', webStream],
]

/** A stream that is left open keeps its file or its connection. */
export const unsentUploads: ScenarioGroup = {
  subject: 'The stream of a call that was aborted before it began',
  scenarios: uploads.map(([kind, open]) => scenario(kind, open)),
}

function scenario(kind: BodyKind, open: () => Upload): Scenario {
  return {
    name: `is cancelled in the same turn as by the bare client: a ${kind}`,
    needs: {
      feature: `body: ${kind}`,
      async instead(stage) {
        expect((await stage.open().client.send({ url: 'records' })).status).toBe(200)
      },
    },
    async run(stage) {
      const { client } = stage.open()
      const url = `${stage.sandbox.weblinkUrl}echo`
      const ours = await fateOf(client, url, open())
      expect([stage.calls(), stage.tokenRequests()]).toEqual([0, 0])
      const bare = await fateOf(stage.bare(), url, open())
      expect(ours.error).toEqual(bare.error)
      // no later than by the bare client: that of a `pipeline` waits for a connection first
      expect(ours.letGo).toEqual(bare.letGo.map((isLetGo, at) => isLetGo || ours.letGo[at]))
    },
  }
}

async function fateOf(
  client: TestClient,
  url: string,
  { body, isLetGo }: Upload,
): Promise<{ error: object; letGo: boolean[] }> {
  if (body.kind === 'Node stream') body.value.on('error', () => {})
  const failed = client.failure({ url, method: 'POST', body, signal: AbortSignal.abort(new Error('enough')) })
  const letGo = [isLetGo()]
  const error = errorKind(await failed)
  letGo.push(isLetGo())
  for (let turns = 0; turns < 3; turns++) await turn()
  letGo.push(isLetGo())
  return { error, letGo }
}

function nodeStream(): Upload {
  const value = new PassThrough()
  value.write('begin')
  return { body: { kind: 'Node stream', value }, isLetGo: () => value.destroyed }
}

function webStream(): Upload {
  let isCancelled = false
  const value = new ReadableStream<Uint8Array<ArrayBuffer>>({ cancel: () => void (isCancelled = true) })
  return { body: { kind: 'web stream', value }, isLetGo: () => isCancelled }
}
