import type { Emit, Observer, TokenlaneEvent } from '../events.ts'

/** The observers of one manager. One that fails changes nothing, for the manager or for the others. */
export class Observers {
  #observers: readonly Observer[]
  /** Events that observers have caused, until those before them have been given to all. */
  readonly #pending: TokenlaneEvent[] = []
  #isEmitting = false
  /** Gives an event to all of them. */
  readonly emit: NonNullable<Emit>

  constructor(observers: readonly Observer[], manager?: object) {
    this.#observers = observers
    this.emit = emitting(
      (event) => this.#emit(event),
      () => this.#observers.length > 0,
      manager,
    )
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

  /** Adds an observer for the events of one tenant. */
  addFor(tenant: string, observer: Observer): () => void {
    return this.add((event) => {
      if (event.tenant === tenant) return observer(event)
    })
  }

  /** Returns what gives the events of a tenant to all observers, with its name. */
  emitFor(tenant: string): Emit {
    const { emit } = this
    return emitting(
      (event) => {
        if (emit.isObserved === true) emit({ ...event, tenant })
      },
      () => emit.isObserved === true,
      emit.manager,
    )
  }

  #emit(event: TokenlaneEvent): void {
    if (this.#observers.length === 0) return
    this.#pending.push(event)
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

function emitting(emit: Observer, isObserved: () => boolean, manager: object | undefined): NonNullable<Emit> {
  return Object.defineProperties(emit, { isObserved: { get: isObserved }, manager: { value: manager } })
}
