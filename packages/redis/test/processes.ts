import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TokenlaneEvent } from '@tokenlane/core'
import type { Sandbox } from '@tokenlane/sandbox'
import type { ClientKind } from './clients.ts'

/** What a process of the fleet is started with. */
export interface Plan {
  readonly client: ClientKind
  readonly redisUrl: string
  readonly authUrl: string
  readonly apiUrl: string
  readonly credentials: Sandbox['credentials']['general']
}

/** A command to a process: n first calls of a new manager at once, calls in n lanes until `stop`, or that it may ask. */
export type Order =
  | { readonly first: number; readonly requestTimeout?: number }
  | { readonly load: number }
  | 'stop'
  | 'go'

/** What a process did. */
export interface Result {
  readonly calls: number
  readonly lost: number
  readonly tokens: readonly string[]
  readonly events: readonly TokenlaneEvent['type'][]
  readonly took: number
}

/** Real processes that share a Redis and an issuer. */
export class Processes implements AsyncDisposable {
  /** What becomes of a process that is about to ask the issuer. */
  onAsking: (child: ChildProcess) => void = (child) => child.send('go')
  readonly #children = new Set<ChildProcess>()
  readonly #folder = mkdtempSync(join(tmpdir(), 'processes-'))

  readonly #plan: Omit<Plan, 'client'>
  readonly #ca: string

  private constructor(plan: Omit<Plan, 'client'>, ca: string) {
    this.#plan = plan
    this.#ca = join(this.#folder, 'ca.pem')
    writeFileSync(this.#ca, ca)
  }

  /** The processes alternate between the two Redis clients. */
  static async start(count: number, sandbox: Sandbox, redisUrl: string): Promise<Processes> {
    const { authUrl, apiUrl, credentials, ca } = sandbox
    const plan = { redisUrl, authUrl, apiUrl, credentials: credentials.general }
    const processes = new Processes(plan, ca)
    await Promise.all(
      Array.from({ length: count }, (_, index) => processes.add(index % 2 === 0 ? 'redis' : 'ioredis')),
    )
    return processes
  }

  /** Tells all, and waits for what they did; a process that dies meanwhile did nothing. */
  async all(order: Order): Promise<readonly Result[]> {
    const results = await Promise.all(Array.from(this.#children, (child) => resultOf(child, order)))
    return results.filter((result) => result !== undefined)
  }

  tell(order: 'stop'): void {
    for (const child of this.#children) child.send(order)
  }

  async kill(child: ChildProcess): Promise<void> {
    this.#children.delete(child)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#children, (child) => this.kill(child)))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** One more process. */
  async add(client: ClientKind): Promise<ChildProcess> {
    const program = fileURLToPath(new URL('process.ts', import.meta.url))
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: this.#ca }
    const child = fork(program, [JSON.stringify({ ...this.#plan, client })], { env, execArgv: [] })
    this.#children.add(child)
    await once(child, 'message')
    child.on('message', (message) => {
      if (message === 'asking') this.onAsking(child)
    })
    return child
  }
}

/** Tells one, and waits for what it did. */
export function resultOf(child: ChildProcess, order: Order): Promise<Result | undefined> {
  const { promise, resolve } = Promise.withResolvers<Result | undefined>()
  const heard = (message: unknown): void => {
    if (typeof message === 'object') end(message as Result)
  }
  const died = (): void => end(undefined)
  const end = (result: Result | undefined): void => {
    child.off('message', heard).off('exit', died)
    resolve(result)
  }
  child.on('message', heard).once('exit', died)
  child.send(order)
  return promise
}
