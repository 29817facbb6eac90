import type { Call } from './call.ts'

/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** The most frequent first. */
  entries(): [name: string, count: number][] {
    return [...this.#counts].toSorted(([, one], [, other]) => other - one)
  }

  total(): number {
    return this.entries().reduce((sum, [, count]) => sum + count, 0)
  }
}

/** Accounts for every call: those that began, and how each of them ended. */
export class Account {
  readonly started = new Tally()
  readonly ended = new Tally()
  readonly byClient: Record<string, Tally> = {}
  longest = 0

  start({ client }: Call): void {
    this.started.add(client)
  }

  end({ client }: Call, outcome: string, took: number): void {
    this.ended.add(outcome)
    const own = (this.byClient[client] ??= new Tally())
    own.add(outcome)
    this.longest = Math.max(this.longest, took)
  }
}
