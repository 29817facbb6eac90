import { printable } from '@tokenlane/core/adapter'

import type { Facts } from '../facts/facts.ts'
import { guide } from '../guide.ts'

/** A fault, or a fact that an operator should know. Holds no secret, token, query or body. */
export interface Finding {
  /** Stable across releases, such as `wrong-secret`: each has a section in docs/guide/doctor.md. */
  readonly id: string
  /** `error`: calls fail. `warning`: calls will fail, or are not safe. `info`: worth knowing. */
  readonly severity: 'error' | 'warning' | 'info'
  /** The issuer, server, option or package that it is about. */
  readonly subject: string
  readonly seen: string
  readonly why: string
  readonly fix: string
  /** The section that explains it: a path in the folder of an application that has this package. */
  readonly url: string
}

type Severity = Finding['severity']
type Text<Case> = string | ((found: Case) => string)

/** A finding as a row: when it is found, and what it says. */
interface Row<Case> {
  readonly id: Text<Case>
  /** Whether it is found; always if this is missing. */
  readonly when?: (found: Case) => boolean
  readonly severity?: Severity | ((found: Case) => Severity)
  readonly subject?: Text<Case>
  readonly why?: Text<Case>
  readonly seen: Text<Case>
  readonly fix: Text<Case>
}

interface Table<Case> {
  /** Returns what is looked at, once for each finding: servers with one fault make one. */
  readonly cases: (facts: Facts) => readonly Case[]
  readonly severity?: Severity
  readonly subject?: Text<Case>
  readonly why?: Text<Case>
  /** For each case the first row that fits is found. */
  readonly rows: readonly Row<Case>[]
}

export type Check = (facts: Facts) => Finding[]

/** How long a text may be that names all servers, in characters. */
const longest = 1_000

/** Returns the check of a table. A finding points to its section in docs/guide/doctor.md; what was seen has texts of servers. */
export function table<Case>({ cases, rows, ...all }: Table<Case>): Check {
  return (facts) =>
    cases(facts).flatMap((found) => {
      const fits = rows.find(({ when }) => when?.(found) ?? true)
      if (fits === undefined) return []
      const { severity = all.severity ?? 'error', seen, fix } = fits
      const textOf = (text: Text<Case> = ''): string => (typeof text === 'string' ? text : text(found))
      const id = textOf(fits.id)
      return {
        id,
        severity: typeof severity === 'string' ? severity : severity(found),
        subject: printable(textOf(fits.subject ?? all.subject), longest),
        seen: printable(textOf(seen), longest),
        why: textOf(fits.why ?? all.why),
        fix: textOf(fix),
        url: `${guide}/doctor.md#${id}`,
      }
    })
}

export function row<Case>({ cases, ...only }: Pick<Table<Case>, 'cases'> & Row<Case>): Check {
  return table({ cases, rows: [only] })
}

export function issuersOf(names: readonly string[]): string {
  return `${names.length > 1 ? 'issuers' : 'issuer'} ${names.join(', ')}`
}

/** Returns the items grouped by a key, so that what has one cause gets one finding. Groups keep the order of the items. */
export function groupsBy<T>(items: readonly T[], keyOf: (item: T) => unknown): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = JSON.stringify(keyOf(item))
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

/** Returns names that commas separate with `and` before the last one. */
export function listed(names: string): string {
  return names.replace(/, (?=[^,]*$)/, ' and ')
}
