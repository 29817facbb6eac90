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

/** What a finding says of what was found. */
interface Says<Case> {
  readonly id: Text<Case>
  readonly severity?: Severity | ((found: Case) => Severity)
  readonly subject?: Text<Case>
  readonly seen?: Text<Case>
  readonly why?: Text<Case>
  readonly fix: Text<Case>
}

interface Row<One, Case> extends Says<Case> {
  /** Whether it is found; always if this is missing. */
  readonly when?: (found: One) => boolean
}

/** Rows, of which the first that fits is found, and what they say unless they say it themselves. */
interface Table<One, Case = One> extends Partial<Says<Case>> {
  readonly cases: (facts: Facts) => readonly One[]
  readonly rows: readonly Row<One, Case>[]
}

export type Check = (facts: Facts) => Finding[]

/** Returns the check of a table that has a finding for each case. */
export function table<Case>({ cases, rows, ...all }: Table<Case>): Check {
  return (facts) =>
    cases(facts).flatMap((found) => {
      const fits = rowFor(found, rows)
      return fits === undefined ? [] : findingOf({ ...all, ...fits }, found)
    })
}

/** Cases that one row fits. */
export type Group<One> = readonly [One, ...One[]]

/** Returns the check of a table that has one finding for all cases of a row: they have one cause more often than two. */
export function groupTable<One>({ cases, rows, ...all }: Table<One, Group<One>>): Check {
  return (facts) => {
    const found = cases(facts)
    return rows.flatMap((one) => {
      const [first, ...others] = found.filter((each) => rowFor(each, rows) === one)
      return first === undefined ? [] : findingOf({ ...all, ...one }, [first, ...others] as const)
    })
  }
}

export function row<Case>({ cases, ...only }: Pick<Table<Case>, 'cases'> & Says<Case>): Check {
  return table({ cases, rows: [only] })
}

function rowFor<One, Case>(found: One, rows: readonly Row<One, Case>[]): Row<One, Case> | undefined {
  return rows.find(({ when }) => when?.(found) ?? true)
}

/** How long a text may be that names all servers, in characters. */
const longest = 1_000

/** Returns a finding, which points to its section in docs/guide/doctor.md. What was seen has texts of servers. */
function findingOf<Case>({ severity = 'error', ...says }: Says<Case>, found: Case): Finding {
  const textOf = (text: Text<Case> = ''): string => (typeof text === 'string' ? text : text(found))
  const id = textOf(says.id)
  return {
    id,
    severity: typeof severity === 'string' ? severity : severity(found),
    subject: printable(textOf(says.subject), longest),
    seen: printable(textOf(says.seen), longest),
    why: textOf(says.why),
    fix: textOf(says.fix),
    url: `${guide}/doctor.md#${id}`,
  }
}

export function together(...checks: readonly Check[]): Check {
  return (facts) => checks.flatMap((check) => check(facts))
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
