import { useEffect, useRef } from 'preact/hooks'
import type { Realm } from '../../src/index.ts'
import { act, type Place } from './connection.ts'

const spans = [
  ['5 s', 5_000],
  ['20 s', 20_000],
  ['1 min', 60_000],
  ['until restored', undefined],
] as const
const slowBy = 2_000

export interface FaultFormProps {
  readonly realm: Realm
  readonly kind: 'issuer' | 'api'
  readonly isSet: boolean
}

/**
 * The faults of an issuer or an API: the same buttons for both. Folded while no fault is set. As in each form, its fields have
 * only a `defaultValue`: a `value` would replace what a person types whenever the card is drawn.
 */
export function FaultForm({ realm, kind, isSet }: FaultFormProps) {
  const fold = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const details = fold.current as HTMLDetailsElement
    // stays open while it is used
    details.open = isSet || (details.open && details.contains(document.activeElement))
  }, [isSet])
  const where: Place = `${realm}-${kind}`
  const requests = kind === 'issuer' ? 'token requests' : 'calls'
  const restore = () => act(`restore-${kind}`, { [kind]: realm }, where, 'Restored: no fault is set.')
  const slow = () =>
    act(
      `slow-${kind}`,
      { [kind]: realm, ms: slowBy },
      where,
      `All ${requests} take 2 s longer until restored.`,
    )
  return (
    <details class="faults" ref={fold}>
      <summary>
        Faults of the {realm} {kind === 'issuer' ? 'issuer' : 'API'}
      </summary>
      <form
        class="actions"
        aria-label={`faults of the ${realm} ${kind === 'issuer' ? 'issuer' : 'API'}`}
        onSubmit={(event) => {
          event.preventDefault()
          const { value: does } = event.submitter as HTMLButtonElement
          const form = new FormData(event.currentTarget)
          const [status, percent, span] = ['status', 'percent', 'span'].map((name) => Number(form.get(name)))
          const [label, ms] = spans[span ?? 0] ?? spans[0]
          const which = percent === 100 ? `All ${requests}` : `${percent}% of the ${requests}`
          const time = ms === undefined ? label : `for ${label}`
          const isKill = does === 'kill'
          const fault = { percent, ...(ms !== undefined && { for: ms }), ...(!isKill && { status }) }
          const says = `${which} ${isKill ? 'lose their connection' : `get ${status}`} ${time}.`
          void act(`${does}-${kind}`, { [kind]: realm, ...fault }, where, says)
        }}
      >
        <label>
          <input name="percent" type="number" min={1} max={100} defaultValue={100} required />% of the{' '}
          {requests}
        </label>
        <label>
          for{' '}
          <select name="span">
            {spans.map(([text], index) => (
              <option key={text} value={index} selected={index === 1}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <span class="pair">
          <button type="submit" value="fail">
            Fail
          </button>
          <label>
            with{' '}
            <input
              name="status"
              aria-label="with status"
              type="number"
              min={200}
              max={599}
              defaultValue={503}
              required
            />
          </label>
        </span>
        <button type="submit" value="kill">
          Kill
        </button>
      </form>
      <div class="actions">
        <button type="button" onClick={() => void slow()}>
          Slow all {requests} by 2 s
        </button>
        <button type="button" class="quiet" onClick={() => void restore()}>
          Restore
        </button>
      </div>
    </details>
  )
}
