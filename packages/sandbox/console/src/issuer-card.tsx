import type { IssuerState, Realm } from '../../src/index.ts'
import { act } from './connection.ts'
import { Done } from './done.tsx'
import { FaultForm } from './fault-form.tsx'
import { FaultNotice, faultsOf } from './fault-notice.tsx'
import { duration, times } from './in-words.ts'

const shownTokens = 3

export function IssuerCard({ realm, issuer }: { realm: Realm; issuer: IssuerState }) {
  const { counts, live, liveTokens, acceptedSecrets } = issuer
  const faults = faultsOf(issuer)
  const heading = `${realm}-issuer` as const
  const ofIssuer = { issuer: realm }
  const tokens = live === 0 ? 'No token was live' : times(live, 'token')
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading} tabIndex={-1}>
        {realm} issuer <Health isWell={faults.length === 0} />
      </h2>
      <p class="where">
        {issuer.tokenEndpoint} ({issuer.clientAuthentication})
      </p>
      <FaultNotice faults={faults} />
      <FaultForm realm={realm} kind="issuer" isSet={faults.length > 0} />
      <dl class="figures">
        <Figure name="requests" value={counts.requests} />
        <Figure name="issued" value={counts.issued} />
        <Figure name="refused" value={counts.refused} bad />
        <Figure name="failed" value={counts.failed} bad />
      </dl>
      <h3>{live === 0 ? 'No live token' : times(live, 'live token')}</h3>
      <ul class="tokens">
        {liveTokens.slice(0, shownTokens).map(({ token, timeLeft, lifetime }) => (
          <li key={token}>
            <span>{token}</span>
            <meter
              min={0}
              max={lifetime}
              value={Math.max(0, timeLeft)}
              aria-label={`remaining lifetime of ${token}`}
            />
            <span class="left">{duration(Math.max(0, timeLeft))}</span>
          </li>
        ))}
        {live > shownTokens && <li>and {live - shownTokens} more</li>}
      </ul>
      <div class="actions" role="group" aria-label={`tokens of the ${realm} issuer`}>
        <button
          type="button"
          onClick={() =>
            void act('expire-tokens', ofIssuer, heading, live === 0 ? `${tokens}.` : `${tokens} expired.`)
          }
        >
          Expire tokens
        </button>
        <button
          type="button"
          onClick={() =>
            void act('revoke-tokens', ofIssuer, heading, live === 0 ? `${tokens}.` : `${tokens} revoked.`)
          }
        >
          Revoke tokens
        </button>
        <button
          type="button"
          onClick={() =>
            void act('rotate-secret', ofIssuer, heading, 'There is a new secret. The old one is refused.')
          }
        >
          Rotate secret
        </button>
        <button
          type="button"
          onClick={() =>
            void act(
              'rotate-secret',
              { ...ofIssuer, overlap: true },
              heading,
              'There is a new secret. The old one is still accepted.',
            )
          }
        >
          Rotate with overlap
        </button>
        {acceptedSecrets > 1 && (
          <button
            type="button"
            onClick={() =>
              void act('drop-old-secrets', ofIssuer, heading, 'Only the newest secret is accepted.')
            }
          >
            Drop {times(acceptedSecrets - 1, 'old secret')}
          </button>
        )}
      </div>
      <Done where={heading} />
    </section>
  )
}

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
