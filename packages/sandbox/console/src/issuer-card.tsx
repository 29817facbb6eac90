import { useState } from 'preact/hooks'
import type { IssuerState, Realm } from '../../src/index.ts'
import { Chart, type Line } from './chart.tsx'
import { act } from './connection.ts'
import { faultText } from './fault-text.ts'
import { issuerHistory } from './history.ts'
import { duration, times } from './in-words.ts'

const lines: readonly Line[] = [
  { label: 'issued', colour: '--ok', kind: 'bars' },
  { label: 'refused', colour: '--bad', kind: 'points' },
  { label: 'failed', colour: '--warn', kind: 'points' },
]

const spans = [
  ['5 s', 5_000],
  ['20 s', 20_000],
  ['1 min', 60_000],
  ['until restored', undefined],
] as const

export function IssuerCard({ realm, issuer }: { realm: Realm; issuer: IssuerState }) {
  const [span, setSpan] = useState<number | undefined>(20_000)
  const { counts, live, liveTokens, fault, latency, acceptedSecrets } = issuer
  const isSlow = latency !== 0
  const during = span === undefined ? {} : { for: span }
  const heading = `${realm}-issuer`
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>
        {realm} issuer <Health isWell={fault === null && !isSlow} />
      </h2>
      <p class="where">{issuer.tokenEndpoint}</p>
      {(fault !== null || isSlow) && (
        <p class="notice">
          {fault !== null && faultText(fault)} {isSlow && 'Token requests are held for a while.'}
        </p>
      )}
      <dl class="figures">
        <Figure name="requests" value={counts.requests} />
        <Figure name="issued" value={counts.issued} />
        <Figure name="refused" value={counts.refused} bad />
        <Figure name="failed" value={counts.failed} bad />
      </dl>
      <Chart
        label={`Token requests of the ${realm} issuer in the last minute: ${counts.issued} issued, ${counts.refused} refused and ${counts.failed} failed in all`}
        lines={lines}
        data={() => {
          const samples = issuerHistory[realm]
          return [
            samples.map(({ at }) => at),
            samples.map(({ issued }) => issued),
            samples.map(({ refused }) => positive(refused)),
            samples.map(({ failed }) => positive(failed)),
          ]
        }}
      />
      <h3>{live === 0 ? 'No live token' : times(live, 'live token')}</h3>
      {live === 0 && <p class="empty">A program that requests a token here makes one appear.</p>}
      <ul class="tokens">
        {liveTokens.slice(0, 5).map(({ token, timeLeft, lifetime }) => (
          <li key={token}>
            <span>{token}</span>
            <meter
              min={0}
              max={lifetime}
              value={Math.max(0, timeLeft)}
              aria-label={`remaining life of ${token}`}
            />
            <span class="left">{duration(Math.max(0, timeLeft))}</span>
          </li>
        ))}
      </ul>
      <div class="actions" role="group" aria-label={`tokens of the ${realm} issuer`}>
        <button type="button" onClick={() => void act('expire-tokens', { issuer: realm })}>
          Expire tokens
        </button>
        <button type="button" onClick={() => void act('revoke-tokens', { issuer: realm })}>
          Revoke tokens
        </button>
        <button type="button" onClick={() => void act('rotate-secret', { issuer: realm })}>
          Rotate secret
        </button>
        <button type="button" onClick={() => void act('rotate-secret', { issuer: realm, overlap: true })}>
          Rotate with overlap
        </button>
        {acceptedSecrets > 1 && (
          <button type="button" onClick={() => void act('drop-old-secrets', { issuer: realm })}>
            Drop {times(acceptedSecrets - 1, 'old secret')}
          </button>
        )}
      </div>
      <div class="actions" role="group" aria-label={`faults of the ${realm} issuer`}>
        <label>
          for{' '}
          <select
            value={String(span)}
            onChange={(event) => {
              const { value } = event.currentTarget
              setSpan(value === 'undefined' ? undefined : Number(value))
            }}
          >
            {spans.map(([text, ms]) => (
              <option key={text} value={String(ms)}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          onClick={() => void act('fail-issuer', { issuer: realm, status: 503, ...during })}
        >
          Fail with 503
        </button>
        <button type="button" onClick={() => void act('kill-issuer', { issuer: realm, ...during })}>
          Kill
        </button>
        <button type="button" onClick={() => void act('slow-issuer', { issuer: realm, ms: 2_000 })}>
          Slow by 2 s
        </button>
        <button type="button" class="quiet" onClick={() => void act('restore-issuer', { issuer: realm })}>
          Restore
        </button>
      </div>
    </section>
  )
}

/** A point is drawn only where something happened. */
const positive = (value: number): number | null => (value > 0 ? value : null)

export function Health({ isWell }: { isWell: boolean }) {
  return <span class={isWell ? 'health well' : 'health ill'}>{isWell ? 'healthy' : 'fault set'}</span>
}

export function Figure({ name, value, bad = false }: { name: string; value: number; bad?: boolean }) {
  return (
    <div class={bad && value > 0 ? 'bad' : undefined}>
      <dt>{name}</dt>
      <dd>{value.toLocaleString('en')}</dd>
    </div>
  )
}
