import type { ManagerStatus } from '@tokenlane/core'

import { limits } from './policy.ts'
import type { SecretWatch } from './secret-watch.ts'
import type { Service } from './service.ts'
import type { Account, Tally } from './tally.ts'

export interface Result {
  readonly account: Account
  readonly secrets: SecretWatch
  readonly events: Tally
  /** Calls that were lost although no fault explains it. */
  readonly unexplained: readonly string[]
  /** The APIs of a manager that did not close although every call had ended. */
  readonly notClosed: readonly ManagerStatus['apis'][number][]
  readonly faults: ReadonlyMap<string, number>
  /** Bytes. */
  readonly heap: { readonly start: number; readonly end: number }
  readonly handles: { readonly before: Tally; readonly after: Tally }
  readonly found: ReturnType<Service['findings']>
}

/** What a client of ours must never be found doing. */
const mustNot = new Set([
  'token-outside',
  'foreign-token',
  'missing-token',
  'token-in-url',
  'secret-in-url',
  'over-limit',
])

/** Says in words what happened that must not. */
export function brokenBy({ account, secrets, unexplained, notClosed, handles, found }: Result): string[] {
  const { journal, maxima, trap, verdict } = found
  const broken = [...journal.broken]
  const must = (holds: boolean, words: string): void => void (holds || broken.push(words))

  for (const [index, { quota, window }] of limits.entries()) {
    const most = maxima[index] ?? 0
    must(most <= quota, `over the quota: ${most} calls of ${quota} in ${window} ms`)
  }
  const [started, ended] = [account.started.total(), account.ended.total()]
  must(started === ended, `${started} calls began and ${ended} ended`)
  must(account.ended.get('never ended') === 0, `calls never ended: ${account.ended.get('never ended')}`)
  must(trap.astray === 0, `tokens at another origin: ${trap.astray}`)
  for (const { rule, count } of verdict) must(!mustNot.has(rule), `the verdict: ${rule}, ${count} times`)
  for (const kind of new Set(secrets.found)) must(false, `a secret in a printed error: ${kind}`)
  for (const { baseUrl, running = 0, queued = 0 } of notClosed)
    must(false, `the manager did not close: ${running} calls running and ${queued} queued at ${baseUrl}`)
  for (const call of unexplained) must(false, `lost without a fault that explains it: ${call}`)
  for (const [name, count] of handles.after.entries())
    must(
      count <= handles.before.get(name),
      `${count} of ${name} are left, ${handles.before.get(name)} before`,
    )
  return broken
}

/** Prints tables in Markdown. */
export function print({ account, secrets, events, faults, heap, handles, found }: Result): void {
  const total = account.ended.total()
  const clients = Object.keys(account.byClient)

  console.log(`\n${total} calls; the longest took ${(account.longest / 1_000).toFixed(1)} s\n`)
  row('outcome', ...clients, 'all')
  row('---', ...clients.map(() => '---:'), '---:')
  for (const [outcome, count] of account.ended.entries())
    row(outcome, ...clients.map((client) => account.byClient[client]?.get(outcome) ?? 0), count)

  console.log('')
  row('', '')
  row('---', '---')
  for (const [index, { quota, window }] of limits.entries())
    row(`most calls in any ${window} ms, of ${quota}`, found.maxima[index] ?? 0)
  row('calls that were sent more than once', found.journal.resent)
  row('most sends of one call', found.journal.mostSends)
  for (const [name, { requests, issued }] of Object.entries(found.counts.issuers))
    row(`token requests at the ${name} issuer`, `${requests}, ${issued} tokens issued`)
  for (const [name, count] of events.entries()) row(name, count)
  row(
    'redirects to an origin outside every API; with a token',
    `${found.trap.requests}; ${found.trap.astray}`,
  )
  row('errors printed; with a secret', `${secrets.errors}; ${secrets.found.length}`)
  row('heap after a warm-up; at the end', `${megabytes(heap.start)}; ${megabytes(heap.end)}`)
  row('handles before; left', `${tallied(handles.before)}; ${tallied(handles.after)}`)
  row('verdict', found.verdict.map(({ rule, count }) => `${rule} ${count}`).join(', ') || 'nothing')
  row('faults', [...faults].map(([name, count]) => `${name} ${count}`).join(', '))
}

function row(...cells: (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`

function tallied(tally: Tally): string {
  const counts = tally.entries().map(([name, count]) => `${name} ${count}`)
  return counts.join(', ') || 'none'
}
