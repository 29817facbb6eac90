import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Sandbox } from '@tokenlane/sandbox'

import {
  openScriptedApi,
  type ScriptedResponse,
  type ScriptedApi,
  type SeenRequest,
} from '../../../../../packages/conformance/src/scripted-api.ts'
import type { RemoteAnswer, RemoteRequest } from './remote.ts'

/** What a worker has of the stage that it cannot have itself, as servers. */
export interface StageService extends AsyncDisposable {
  readonly url: string
}

/** Lets a worker control the sandbox, and open scripted APIs whose requests the worker answers. */
export async function openStageService({ control }: Sandbox): Promise<StageService> {
  const apis: RemotelyScripted[] = []

  const actions: Record<string, (asked: never) => unknown> = {
    control: ({ name, args }: { name: keyof typeof control; args: unknown[] }) =>
      (control[name] as (...all: unknown[]) => unknown)(...args),
    async open() {
      const api = await RemotelyScripted.open()
      return { id: apis.push(api) - 1, url: api.url }
    },
    next: ({ id }: { id: number }) => apis[id]!.next(),
    answer: ({ id, ...answer }: RemoteAnswer & { id: number }) => apis[id]!.answer(answer),
    unfinished: ({ id }: { id: number }) => apis[id]!.unfinished(),
    close: ({ id }: { id: number }) => apis[id]!.close(),
  }

  const server = createServer((request, response) => {
    void (async () => {
      const action = actions[request.url!.slice(1)]!
      const result = await action(JSON.parse(await bodyOf(request)) as never)
      response.end(JSON.stringify(result ?? null))
    })().catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      await Promise.all(apis.map((api) => api.close()))
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A scripted API whose script runs in the worker: it asks for each request, and sends what to answer. */
class RemotelyScripted {
  readonly #api: ScriptedApi
  readonly #arrived: RemoteRequest[] = []
  readonly #asking: ((request: RemoteRequest | null) => void)[] = []
  #isClosed = false
  readonly #answers = new Map<number, (answer: never) => void>()

  private constructor(api: ScriptedApi) {
    this.#api = api
  }

  static async open(): Promise<RemotelyScripted> {
    const made: { scripted?: RemotelyScripted } = {}
    const api = await openScriptedApi((request, number) => made.scripted!.#arrive(request, number))
    made.scripted = new RemotelyScripted(api)
    return made.scripted
  }

  get url(): string {
    return this.#api.url
  }

  /** Returns the next request, `null` once there will be none. */
  next(): Promise<RemoteRequest | null> | RemoteRequest | null {
    if (this.#isClosed) return null
    return this.#arrived.shift() ?? new Promise((resolve) => this.#asking.push(resolve))
  }

  answer({ number, answer }: RemoteAnswer): void {
    this.#answers.get(number)?.(answer as never)
  }

  unfinished(): number {
    return this.#api.unfinished()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const resolve of this.#asking.splice(0)) resolve(null)
    await this.#api.close()
  }

  #arrive(request: SeenRequest, number: number): Promise<ScriptedResponse> {
    const arrived = { ...request, body: request.body.toString('base64'), number }
    const asking = this.#asking.shift()
    if (asking === undefined) this.#arrived.push(arrived)
    else asking(arrived)
    return new Promise((resolve) => this.#answers.set(number, resolve))
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}
