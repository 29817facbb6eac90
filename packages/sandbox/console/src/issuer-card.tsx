import type { IssuerState, Realm } from '../../src/index.ts'
import { act } from './connection.ts'
import { Done, FaultNotice, faultsOf } from './notices.tsx'
import { FaultForm } from './fault-form.tsx'
import { duration, plural } from '../../src/in-words.ts'

const shownTokens = 3

/** Lets a line end after each part of a URL. */
const breakable = (url: string) => url.split(/(?<=\w\/)/).flatMap((part) => [part, <wbr />])

export function IssuerCard({ realm, issuer }: { realm: Realm; issuer: IssuerState }) {
  const { counts, live, liveTokens, acceptedSecrets } = issuer
  const faults = faultsOf(issuer)
  const heading = `${realm}-issuer` as const
  const ended = (how: string): string =>
    live === 0 ? 'No token was live.' : `${plural(live, 'token')} ${how}.`
  const buttons: [label: string, name: string, options: object, says: string][] = [
    ['Expire tokens', 'expire-tokens', {}, ended('expired')],
    ['Revoke tokens', 'revoke-tokens', {}, ended('revoked')],
    ['Rotate secret', 'rotate-secret', {}, 'There is a new secret. The old one is refused.'],
    [
      'Rotate with overlap',
      'rotate-secret',
      { overlap: true },
      'There is a new secret. The old one is still accepted.',
    ],
  ]
  if (acceptedSecrets > 1)
    buttons.push([
      `Drop ${plural(acceptedSecrets - 1, 'old secret')}`,
      'drop-old-secrets',
      {},
      'Only the newest secret is accepted.',
    ])
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading} tabIndex={-1}>
        {realm} issuer <Health isWell={faults.length === 0} />
      </h2>
      <p class="where">
        {breakable(issuer.tokenEndpoint)} ({issuer.clientAuthentication})
      </p>
      <FaultNotice faults={faults} />
      <FaultForm realm={realm} kind="issuer" isSet={faults.length > 0} />
      <dl class="figures">
        <Figure name="requests" value={counts.requests} />
        <Figure name="issued" value={counts.issued} />
        <Figure name="refused" value={counts.refused} bad />
        <Figure name="failed" value={counts.failed} bad />
      </dl>
      <h3>{live === 0 ? 'No live token' : plural(live, 'live token')}</h3>
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
        {buttons.map(([label, name, options, says]) => (
          <button
            key={label}
            type="button"
            onClick={() => void act(name, { issuer: realm, ...options }, heading, says)}
          >
            {label}
          </button>
        ))}
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
