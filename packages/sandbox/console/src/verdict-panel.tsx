import { effect } from '@preact/signals'
import type { Finding, SandboxState } from '../../src/index.ts'
import { journal, state, verdict } from './connection.ts'
import { severities, type Severity } from '../../src/verdict/rule.ts'
import { showEntries } from './journal.tsx'

/** The tab says how many findings there are, also while another one is looked at. */
effect(() => {
  const length = verdict.value?.findings.length ?? 0
  document.title = `${length === 0 ? '' : `(${length}) `}Tokenlane sandbox`
})

export function VerdictPanel() {
  const findings = verdict.value?.findings ?? []
  const isBad = findings.some(({ severity }) => severity === 'error')
  const hasSeen = journal.value.length > 0
  const summary = !hasSeen
    ? `No request has arrived ${hasCounted() ? 'since the journal was cleared' : 'yet'}.`
    : verdict.value === undefined
      ? 'Checking the requests so far …'
      : findings.length === 0
        ? 'No problems found so far.'
        : `${severities(findings)} so far.`
  return (
    <section class="card wide" aria-labelledby="verdict">
      <div class="line">
        <h2 id="verdict">Verdict</h2>
        <p class={isBad ? 'verdict bad' : 'verdict'} role="status">
          {summary}
        </p>
      </div>
      {!hasSeen && (
        <p class="empty">
          Point your program at this sandbox with the environment below. Anything that your program does wrong
          appears here, with the evidence.
        </p>
      )}
      <ul class="findings">
        {findings.toSorted(worstFirst).map(({ rule, severity, message, fix, evidence }) => (
          <li key={rule} class={severity}>
            <details>
              <summary>
                <span class="tag">{severity}</span> <strong>{rule}</strong>{' '}
                <span class="message">{message}.</span>
              </summary>
              <p class="fix">{fix}</p>
              {evidence.length > 0 && (
                <button type="button" class="quiet" onClick={() => showEntries(evidence)}>
                  Show the evidence
                </button>
              )}
            </details>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The counts outlast the journal. */
function hasCounted(): boolean {
  const { issuers, apis } = state.value as SandboxState
  return [issuers.general, issuers.weblink, apis.general, apis.weblink].some(({ counts }) =>
    'calls' in counts ? counts.calls > 0 : counts.requests > 0,
  )
}

const ranks: readonly Severity[] = ['error', 'warning', 'note']

function worstFirst(one: Finding, other: Finding): number {
  return ranks.indexOf(one.severity) - ranks.indexOf(other.severity) || other.count - one.count
}
