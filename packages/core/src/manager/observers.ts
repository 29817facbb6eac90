import type { Emit, Observer, TokenlaneEvent } from '../events.ts'

/** The observers of one manager. One that fails changes nothing, for the manager or for the others. */
export class Observers {
  #observers: readonly Observer[]
  /** Events that observers have caused, until those before them have been given to all. */
  readonly #pending: TokenlaneEvent[] = []
  readonly #tenant: string | undefined
  #isEmitting = false
  /** Gives an event to all of them. */
  readonly emit: NonNullable<Emit>

  /**
   * @param manager in which the events happen.
   * @param tenant the name that they carry.
   */
  constructor(observers: readonly Observer[], manager?: object, tenant?: string) {
    this.#observers = observers
    this.#tenant = tenant
    this.emit = Object.defineProperties((event: TokenlaneEvent) => this.#emit(event), {
      isObserved: { get: () => this.#observers.length > 0 },
      manager: { value: manager },
    })
  }

  /** Adds an observer; the function that is returned takes it off again. */
  add(observer: Observer): () => void {
    // of its own, so that the same observer can be added twice
    const added: Observer = (event) => observer(event)
    this.#observers = [...this.#observers, added]
    return () => {
      this.#observers = this.#observers.filter((other) => other !== added)
    }
  }

  #emit(event: TokenlaneEvent): void {
    if (this.#observers.length === 0) return
    this.#pending.push(this.#tenant === undefined ? event : { ...event, tenant: this.#tenant })
    // an observer that makes a call causes events: they come after this one, for every observer
    if (this.#isEmitting) return
    this.#isEmitting = true
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      for (const observe of this.#observers) deliver(observe, next)
    }
    this.#isEmitting = false
  }
}

function deliver(observe: Observer, event: TokenlaneEvent): void {
  try {
    const outcome: unknown = observe(event)
    if (outcome instanceof Promise) outcome.catch(() => {})
  } catch {
    // an observer's failure is its own
  }
}
