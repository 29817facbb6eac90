import type { ScriptedResponse, SeenRequest } from '../../../../../packages/conformance/src/scripted-api.ts'

/** A request to a scripted API, on its way to the worker. */
export interface RemoteRequest extends Omit<SeenRequest, 'body'> {
  /** In base64. */
  readonly body: string
  readonly number: number
}

/** What the worker answers it with. */
export interface RemoteAnswer {
  readonly number: number
  readonly answer: ScriptedResponse | 'cut'
}

/** Asks the service of the stage, which runs in Node. */
export async function askStage<T>(action: string, asked: object = {}): Promise<T> {
  const response = await send(service + action, { method: 'POST', body: JSON.stringify(asked) })
  if (!response.ok) throw new Error(`${action}: ${await response.text()}`)
  return (await response.json()) as T
}

/** The runtime's own `fetch`, whatever the scenarios are given. */
export const send: typeof fetch = globalThis.fetch.bind(globalThis)

let service = ''

export function useService(url: string): void {
  service = url
}
