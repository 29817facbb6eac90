// In the place of the suite's own module of this name, whose server a worker cannot have.
import type {
  Script,
  ScriptedResponse,
  ScriptedApi,
  SeenRequest,
} from '../../../../../packages/conformance/src/scripted-api.ts'
import { askStage, type RemoteRequest } from './remote.ts'

export const rejection: ScriptedResponse = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
}

export async function openScriptedApi(script: Script = () => ({ status: 200 })): Promise<ScriptedApi> {
  const { id, url } = await askStage<{ id: number; url: string }>('open')
  const requests: SeenRequest[] = []
  let unfinished = 0

  async function serve(): Promise<void> {
    for (;;) {
      const arrived = await askStage<RemoteRequest | null>('next', { id })
      if (arrived === null) return
      const { number, body, ...request } = arrived
      const seen = { ...request, body: Buffer.from(body, 'base64') }
      requests.push(seen)
      void answer(seen, number)
    }
  }

  async function answer(seen: SeenRequest, number: number): Promise<void> {
    await askStage('answer', { id, number, answer: await script(seen, number) })
  }

  const served = serve()
  return {
    url,
    requests,
    unfinished() {
      // what it is now is there at the next look
      void askStage<number>('unfinished', { id }).then((count) => (unfinished = count))
      return unfinished
    },
    async close() {
      await askStage('close', { id })
      await served
    },
  }
}
