import type { Sandbox, SandboxControl } from '@tokenlane/sandbox'

import type { Surroundings } from '../workerd.ts'
import { askStage, send } from './remote.ts'

type Counts = ReturnType<SandboxControl['counts']>

/**
 * The sandbox as scenarios use it, which is in another process: what they tell it is done before the next request
 * leaves, and what it counts is known when a response is there.
 */
export class RemoteSandbox {
  #counts: Counts
  #told: Promise<unknown> = Promise.resolve()
  #resets = 0

  private constructor(counts: Counts) {
    this.#counts = counts
  }

  static async open(): Promise<RemoteSandbox> {
    return new RemoteSandbox(await askStage<Counts>('control', { name: 'counts', args: [] }))
  }

  /** Returns what the scenarios see. */
  seen(surroundings: Surroundings): Sandbox {
    const tell =
      (name: keyof SandboxControl) =>
      (...args: unknown[]): void =>
        this.#tell(name, args)
    const control = {
      counts: () => {
        void this.refresh()
        return this.#counts
      },
      resetCounts: () => {
        this.#resets += 1
        this.#counts = zeroed(this.#counts)
        this.#tell('resetCounts', [])
      },
      revokeTokens: tell('revokeTokens'),
      failApi: tell('failApi'),
      failIssuer: tell('failIssuer'),
      restoreApi: tell('restoreApi'),
      restoreIssuer: tell('restoreIssuer'),
    }
    return { ...surroundings, control } as unknown as Sandbox
  }

  /** A `fetch` that keeps the order of what the sandbox is told and what it is sent. */
  readonly fetch: typeof fetch = async (input, init) => {
    await this.#told
    try {
      return await send(input, init)
    } finally {
      await this.refresh()
    }
  }

  async refresh(): Promise<void> {
    const resets = this.#resets
    await this.#told
    const counts = await askStage<Counts>('control', { name: 'counts', args: [] })
    if (resets === this.#resets) this.#counts = counts
  }

  #tell(name: string, args: unknown[]): void {
    this.#told = this.#told.then(() => askStage('control', { name, args }))
  }
}

function zeroed<T>(counts: T): T {
  return JSON.parse(
    JSON.stringify(counts, (_, value: unknown) => (typeof value === 'number' ? 0 : value)),
  ) as T
}
