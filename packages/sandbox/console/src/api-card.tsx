import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiState, Realm } from '../../src/index.ts'
import { Chart, type Line } from './chart.tsx'
import { act } from './connection.ts'
import { Done } from './done.tsx'
import { FaultForm } from './fault-form.tsx'
import { FaultNotice, faultsOf } from './fault-notice.tsx'
import { apiHistory, type ApiSample } from './history.ts'
import { duration, times } from './in-words.ts'
import { Figure, Health } from './issuer-card.tsx'

const lines: readonly Line[] = [
  { label: 'calls in the window', colour: '--ok', kind: 'line' },
  { label: 'quota', colour: '--soft', kind: 'limit' },
  { label: '401', colour: '--bad', kind: 'points' },
  { label: '429', colour: '--warn', kind: 'points' },
]

export function ApiCard({ realm, api }: { realm: Realm; api: ApiState }) {
  const [shown, setShown] = useState(0)
  const { counts, windows } = api
  const faults = faultsOf(api)
  const limit = windows[shown] ?? windows[0]
  const index = limit === undefined ? 0 : windows.indexOf(limit)
  const heading = `${realm}-api` as const
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>
        {realm} API <Health isWell={faults.length === 0} />
      </h2>
      <p class="where">{api.baseUrl}</p>
      <FaultNotice faults={faults} />
      <dl class="figures">
        <Figure name="calls" value={counts.calls} />
        <Figure name="answered" value={counts.answered} />
        <Figure name="401" value={counts.rejected} bad />
        <Figure name="429" value={counts.limited} bad />
        <Figure name="failed" value={counts.failed} bad />
      </dl>
      {limit === undefined ? (
        <p class="empty">
          No rate policy: any number of calls is allowed. Set one below to see how much of it is used.
        </p>
      ) : (
        <>
          <Chart
            label={`Calls to the ${realm} API in a sliding window of ${duration(limit.window)} over the last minute: ${limit.used} of ${limit.quota} now`}
            lines={lines}
            data={() => dataOf(apiHistory[realm], index, limit.quota)}
          />
          <ul class="windows">
            {windows.map(({ quota, window, used }, each) => (
              <li key={`${quota}/${window}`}>
                <button
                  type="button"
                  class="quiet"
                  aria-pressed={each === index}
                  onClick={() => setShown(each)}
                >
                  <strong>{used}</strong> of {quota} in {duration(window)}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <PolicyForm realm={realm} quota={limit?.quota ?? 25} window={limit?.window ?? 1_000} />
      <FaultForm realm={realm} kind="api" isSet={faults.length > 0} />
      <Done where={heading} />
    </section>
  )
}

/** Points stand on the line of the window. */
function dataOf(
  samples: readonly ApiSample[],
  index: number,
  quota: number,
): [number[], ...(number | null)[][]] {
  const used = samples.map((sample) => sample.used[index] ?? 0)
  return [
    samples.map(({ at }) => at),
    used,
    samples.map(() => quota),
    samples.map(({ rejected }, each) => (rejected > 0 ? (used[each] ?? 0) : null)),
    samples.map(({ limited }, each) => (limited > 0 ? (used[each] ?? 0) : null)),
  ]
}

function PolicyForm({ realm, quota, window }: { realm: Realm; quota: number; window: number }) {
  const policyForm = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // another policy replaces what was typed
    policyForm.current?.reset()
  }, [quota, window])
  return (
    <form
      ref={policyForm}
      class="actions"
      aria-label={`rate policy of the ${realm} API`}
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const limit = { quota: Number(form.get('quota')), window: Number(form.get('window')) * 1_000 }
        const text = `At most ${times(limit.quota, 'call')} in ${duration(limit.window)} from now on.`
        void act('set-rate-policy', { api: realm, policy: { limits: [limit] } }, `${realm}-api`, text)
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
        onClick={() =>
          void act(
            'set-rate-policy',
            { api: realm, policy: null },
            `${realm}-api`,
            'Any number of calls is allowed from now on.',
          )
        }
      >
        Remove
      </button>
    </form>
  )
}
