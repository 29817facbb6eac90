import type { SeenClose, SeenRequest } from '../journal/entry.ts'
import { flawRules } from './rules/flaws.ts'
import { endless401 } from './rules/endless-401.ts'
import { hammeredIssuer } from './rules/hammered-issuer.ts'
import { ignoredRetryAfter } from './rules/ignored-retry-after.ts'
import { needlessRenewal } from './rules/needless-renewal.ts'
import { noKeepAlive } from './rules/no-keep-alive.ts'
import { rejectedToken } from './rules/rejected-token.ts'
import { mostEvidence, type Broken, type Rule, type Severity, type Watcher } from './rule.ts'
import { stampede } from './rules/stampede.ts'
import { workLost } from './rules/work-lost.ts'

/** A client mistake, with its evidence. */
export interface Finding {
  /** Stable name of the rule, for example `stampede`. */
  rule: string
  /** An `error` costs calls or tokens, or shows a secret; a `warning` costs time; a `note` is right for a command typed by hand. */
  severity: Severity
  /** What happened, in plain words. */
  message: string
  /** What to change in the client. */
  fix: string
  /** Ids of journal entries that show it, in time order: the first 10 at most. The journal keeps them. */
  evidence: number[]
  /** How often it happened. */
  count: number
}

/** What the client has done wrong so far. */
export interface Verdict {
  /** Whether no finding is an error. */
  ok: boolean
  /** All findings, errors first. */
  findings: Finding[]
}

/** Every rule, in the order in which findings are listed. */
export const rules: readonly Rule[] = [
  stampede,
  needlessRenewal,
  hammeredIssuer,
  rejectedToken,
  endless401,
  ignoredRetryAfter,
  ...flawRules,
  workLost,
  noKeepAlive,
]

/** Checks requests against the rules as they arrive. */
export class Judge {
  readonly #keep: (id: number) => void
  #cases: readonly Case[] = []

  /** @param keep - keeps an entry of the journal as evidence. */
  constructor(keep: (id: number) => void) {
    this.#keep = keep
    this.clear()
  }

  see(request: SeenRequest): void {
    for (const { watcher } of this.#cases) watcher.see(request)
  }

  seeClose(close: SeenClose): void {
    for (const { watcher } of this.#cases) watcher.seeClose?.(close)
  }

  verdict(): Verdict {
    const findings = this.#cases.flatMap((each) => each.finding() ?? [])
    return { ok: findings.every(({ severity }) => severity !== 'error'), findings }
  }

  clear(): void {
    this.#cases = rules.map((rule) => openCase(rule, this.#keep))
  }
}

const byId = (one: number, other: number): number => one - other

interface Case {
  watcher: Watcher
  finding(): Finding | undefined
}

function openCase(
  { name, severity, message, fix, least = 1, watch }: Rule,
  keep: (id: number) => void,
): Case {
  const evidence = new Set<number>()
  const kept = new Set<number>()
  const reported = { all: 0, notes: 0 }
  const note = (known: Set<number>, ids: readonly number[]): void => {
    for (const id of ids) {
      if (known.size >= mostEvidence) return
      known.add(id)
      keep(id)
    }
  }
  const watcher = watch(
    ({ evidence: ids, isNote = false }) => {
      reported.all += 1
      if (isNote) reported.notes += 1
      note(evidence, ids)
    },
    (...ids) => note(kept, ids),
  )

  return {
    watcher,
    finding() {
      const open: readonly Broken[] = watcher.open?.() ?? []
      const count = reported.all + open.length
      if (count < least) return undefined
      const ids = open.flatMap((broken) => broken.evidence)
      const shown = [...new Set([...evidence, ...ids])].slice(0, mostEvidence).toSorted(byId)
      const notes = reported.notes + open.filter(({ isNote }) => isNote).length
      const worst = notes === count ? 'note' : severity
      return { rule: name, severity: worst, message: message(count), fix, evidence: shown, count }
    },
  }
}
