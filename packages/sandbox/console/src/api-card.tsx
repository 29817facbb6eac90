import { useEffect, useRef } from 'preact/hooks'
import type { ApiState, Realm } from '../../src/index.ts'
import { act } from './connection.ts'
import { Done, FaultNotice, faultsOf } from './notices.tsx'
import { FaultForm } from './fault-form.tsx'
import { duration, plural } from '../../src/in-words.ts'
import { Figure, Health } from './issuer-card.tsx'

export function ApiCard({ realm, api }: { realm: Realm; api: ApiState }) {
  const { counts, windows } = api
  const faults = faultsOf(api)
  const [limit] = windows
  const heading = `${realm}-api` as const
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>
        {realm} API <Health isWell={faults.length === 0} />
      </h2>
      <p class="where">{api.baseUrl}</p>
      <FaultNotice faults={faults} />
      <FaultForm realm={realm} kind="api" isSet={faults.length > 0} />
      <dl class="figures">
        <Figure name="calls" value={counts.calls} />
        <Figure name="answered" value={counts.answered} />
        <Figure name="401" value={counts.rejected} bad />
        <Figure name="429" value={counts.limited} bad />
        <Figure name="failed" value={counts.failed} bad />
      </dl>
      {limit === undefined ? (
        <p class="empty">No rate policy: any number of calls is allowed.</p>
      ) : (
        <ul class="windows">
          {windows.map(({ quota, window, used }) => (
            <li key={`${quota}/${window}`}>
              <span>
                <strong>{used}</strong> of {quota} in {duration(window)}
              </span>
              <meter
                min={0}
                max={Math.max(quota, used)}
                low={quota}
                high={quota}
                optimum={0}
                value={used}
                aria-label={`calls to the ${realm} API in ${duration(window)}`}
              />
            </li>
          ))}
        </ul>
      )}
      <PolicyForm realm={realm} quota={limit?.quota ?? 25} window={limit?.window ?? 1_000} />
      <Done where={heading} />
    </section>
  )
}

function PolicyForm({ realm, quota, window }: { realm: Realm; quota: number; window: number }) {
  const policyForm = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // another policy replaces what was typed
    policyForm.current?.reset()
  }, [quota, window])
  const set = (limits: object[] | undefined, says: string) =>
    void act('set-rate-policy', { api: realm, policy: limits ? { limits } : null }, `${realm}-api`, says)
  return (
    <form
      ref={policyForm}
      class="actions"
      aria-label={`rate policy of the ${realm} API`}
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const limit = { quota: Number(form.get('quota')), window: Number(form.get('window')) * 1_000 }
        set([limit], `At most ${plural(limit.quota, 'call')} in ${duration(limit.window)} from now on.`)
      }}
    >
      <label>
        <input name="quota" type="number" min={1} defaultValue={quota} required /> calls in{' '}
      </label>
      <label>
        <input
          name="window"
          aria-label="window in s"
          type="number"
          min={0.1}
          step="any"
          defaultValue={window / 1_000}
          required
        />{' '}
        s
      </label>
      <button type="submit">Set policy</button>
      <button
        type="button"
        class="quiet"
        onClick={() => set(undefined, 'Any number of calls is allowed from now on.')}
      >
        Remove
      </button>
    </form>
  )
}
