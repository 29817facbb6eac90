import { has, own } from '../options/check.ts'
import { readInstant } from '../time/read-instant.ts'
import {
  type CalledProvider,
  type CredentialsFault,
  type CredentialsKinds,
  type Fields,
  fieldsOf,
  markOf,
  readClient,
  secretKind,
  type TextKinds,
} from './client.ts'
import type { ClientCredentials, CredentialsProvider } from './credentials.ts'

/** Returns the text of a field without white space around it, `undefined` where it is missing. */
type ReadText = (field: string) => string | undefined

/** Returns a provider that reads texts, and whose credentials `createTokenManager` checks at once. */
export function textProvider(
  read: (kinds: TextKinds) => readonly ClientCredentials[],
  readsFrom: (kinds: TextKinds) => string,
): CredentialsProvider {
  const provider: CalledProvider = Object.assign(
    ({ kinds }: { readonly kinds?: CredentialsKinds }) => read(inText(kinds)),
    {
      check: (_: string, kinds?: CredentialsKinds) => read(inText(kinds)),
      readsFrom: (_: string, kinds?: CredentialsKinds) => readsFrom(inText(kinds)),
    },
  )
  return provider as CredentialsProvider
}

function inText(kinds: CredentialsKinds = [secretKind]): TextKinds {
  return kinds.map((kind) => kind.inText ?? kind) as readonly unknown[] as TextKinds
}

export function neededFields(read: ReadText, kinds: TextKinds): readonly string[] {
  return ['clientId', ...new Set(kindsIn(read, kinds).flatMap(renewedFields))]
}

/** Returns the kinds whose texts are there; the first kind if none are. */
function kindsIn(read: ReadText, kinds: TextKinds): readonly Fields[] {
  const taken = new Set<string>()
  const found = kinds.filter((kind) => {
    const isThere = !taken.has(markOf(kind)) && Boolean(read(markOf(kind)))
    // a certificate's key is not one that signs
    if (isThere) for (const field of Object.keys(kind.needed)) taken.add(field)
    return isThere
  })
  return found.length > 0 ? found : kinds.slice(0, 1)
}

/** The fields of the second client, which is tried when the first is refused; their names end with `Next`. */
const renewedFields = ({ needed, renewed = Object.keys(needed) }: Fields): readonly string[] => renewed

/** Returns a client for each kind whose texts are there, each followed by that of the fields ending in `Next`. */
export function clientsFromTexts(
  read: ReadText,
  kinds: TextKinds,
): { readonly clients: readonly ClientCredentials[] } | { readonly faults: readonly CredentialsFault[] } {
  const clients: ClientCredentials[] = []
  const faults = new Map<string, CredentialsFault>()
  for (const kind of kindsIn(read, kinds)) {
    const renewed = renewedFields(kind)
    for (const suffix of read(`${markOf(kind)}Next`) ? ['', 'Next'] : ['']) {
      const named = (field: string): string => (renewed.includes(field) ? field + suffix : field)
      const texts = fieldsOf(kind)
        .filter((field) => suffix === '' || field !== 'secretIssuedAt')
        .map((field) => {
          const text = read(named(field))
          return [field, text === '' && field in kind.optional ? undefined : text] as const
        })
      const one = clientInTexts(Object.fromEntries(texts), kind)
      if (has(one, 'client')) clients.push(one.client)
      else
        for (const { field, ...fault } of one.faults)
          faults.set(named(field), { field: named(field), ...fault })
    }
  }
  return faults.size > 0 ? { faults: [...faults.values()] } : { clients }
}

export function clientInTexts(
  texts: Readonly<Record<string, unknown>>,
  kind: Fields,
): ReturnType<typeof readClient> {
  const { secretIssuedAt: text } = texts
  return readClient(text === undefined ? texts : { ...texts, secretIssuedAt: parseIsoDate(text) }, [kind])
}

const isoDate = /^\d{4}-\d\d-\d\d(?:T[\d:.Z+-]+)?$/

/** Reads an ISO 8601 date, with a time or without (then 00:00 UTC); an invalid date for anything else. */
export function parseIsoDate(text: unknown): Date {
  if (typeof text !== 'string' || !isoDate.test(text)) return new Date(Number.NaN)
  // `Date` takes 2026-02-30 for the second of March
  return new Date(readInstant(`${text.slice(0, 10)}T00:00Z`) === undefined ? Number.NaN : text)
}

/** Returns what is wrong with a text, to follow what it is called: `is missing`. */
export function textFault({ field, given, allowed }: CredentialsFault): string {
  if (given === 'missing' || given === 'empty') return `is ${given}`
  return field === 'secretIssuedAt'
    ? 'is not an ISO 8601 date, such as 2026-11-21'
    : `is ${given}; allowed: ${allowed}`
}

const placeholder =
  /^(?:\$\{.*\}|\$\(.*\)|\$\w+|\{\{.*\}\}|<.*>|%\w+%|\[.*\]|\*+|x{3,}|todo|your[-_ ].*|my[-_ ].*(?:id|secret)|(?:change|replace|fill)[-_ ]?(?:me|this|in)\b.*)$/is

/** What looks wrong about text that was filled in by hand. */
export type Oddity = 'quotes' | 'placeholder' | 'white space'

export function oddityOf(text: string): Oddity | undefined {
  if (/^(["'`]).*\1$/s.test(text)) return 'quotes'
  if (placeholder.test(text)) return 'placeholder'
  return /\s/.test(text) ? 'white space' : undefined
}

const words: Readonly<Record<Oddity, string>> = {
  quotes: 'is in quotes',
  placeholder: 'looks like a placeholder',
  'white space': 'has white space in it',
}

/** Returns what looks wrong about a refused client's id and secret, to end a sentence. */
export function oddTextIn(client: ClientCredentials): string {
  const odd = (['clientId', 'clientSecret'] as const).flatMap((field) => {
    const text = own(client, field)
    const oddity = typeof text === 'string' ? oddityOf(text) : undefined
    return oddity === undefined ? [] : [`\`${field}\` ${words[oddity]}`]
  })
  return odd.length === 0 ? '' : `: ${odd.join(', and ')}`
}
