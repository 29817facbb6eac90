import type { Emit, Observer, TokenlaneEvent } from '../events.ts'
import { warn } from './warnings.ts'
import { withoutEffect } from '../runtime/without-effect.ts'

export type Observers = ReturnType<typeof observersOf>

/** Keeps the observers of one manager, whose events name its `tenant`. One that fails changes nothing for the others. */
export function observersOf(given: readonly Observer[], manager: object, tenant?: string) {
  let observers = given
  /** Events caused by observers, until all observers have had the earlier ones. */
  const pending: TokenlaneEvent[] = []
  const emit = Object.assign(
    (event: TokenlaneEvent) => {
      if (observers.length === 0) return warn(event)
      // nobody can say which tenant such a call was made for
      const isOfTenant = tenant !== undefined && event.type !== 'client.unattached'
      pending.push(isOfTenant ? { ...event, tenant } : event)
      // an observer that makes a call causes events: they come after this one, for every observer
      if (pending.length > 1) return
      for (; pending[0] !== undefined; pending.shift())
        for (const observe of observers) {
          const [first] = pending
          withoutEffect(() => observe(first))
        }
    },
    { isObserved: given.length > 0, manager },
  )
  const set = (changed: readonly Observer[]): void => {
    observers = changed
    emit.isObserved = changed.length > 0
  }
  return {
    emit: emit as Emit,
    add(observer: Observer): () => void {
      // of its own, so that the same observer can be added twice
      const added: Observer = (event) => observer(event)
      set([...observers, added])
      return () => set(observers.filter((other) => other !== added))
    },
  }
}
