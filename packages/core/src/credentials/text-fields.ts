import {
  type CalledProvider,
  type CredentialsFault,
  type CredentialsKind,
  type CredentialsKinds,
  fieldsOf,
  markOf,
  readClient,
  secretKind,
} from './client.ts'
import type { ClientCredentials, CredentialsProvider } from './credentials.ts'

/** Returns the text of a field without white space around it, `undefined` where it is missing. */
type ReadText = (field: string) => string | undefined

/**
 * Returns a provider that reads texts, and whose credentials `createTokenManager` checks at once.
 *
 * @param read throws for wrong credentials.
 * @param readsFrom names where it reads them, for tools.
 */
export function textProvider(
  read: (kinds: CredentialsKinds) => readonly ClientCredentials[],
  readsFrom: (kinds: CredentialsKinds) => string,
): CredentialsProvider {
  const ofSecrets: CredentialsKinds = [secretKind]
  const provider: CalledProvider = Object.assign(
    ({ kinds = ofSecrets }: { readonly kinds?: CredentialsKinds }) => read(kinds),
    {
      check: (_: string, kinds = ofSecrets) => read(kinds),
      readsFrom: (_: string, kinds = ofSecrets) => readsFrom(kinds),
    },
  )
  return provider as CredentialsProvider
}

/** Returns the fields that the clients need, in the order in which an operator looks for them. */
export function neededFields(read: ReadText, kinds: CredentialsKinds): readonly string[] {
  return ['clientId', ...new Set(kindsIn(read, kinds).flatMap(renewedFields))]
}

/** Returns the kinds of credentials of which there are texts; the first kind where there are none. */
function kindsIn(read: ReadText, kinds: CredentialsKinds): readonly CredentialsKind[] {
  const taken = new Set<string>()
  const found = kinds.filter((kind) => {
    const fields = kind.inText ?? kind
    const isThere = !taken.has(markOf(fields)) && Boolean(read(markOf(fields)))
    // a certificate's key is not one that signs
    if (isThere) for (const field of Object.keys(fields.needed)) taken.add(field)
    return isThere
  })
  return found.length > 0 ? found : kinds.slice(0, 1)
}

/** Returns the fields that differ in the client that is tried when the first is refused; their names end with `Next`. */
function renewedFields(kind: CredentialsKind): readonly string[] {
  const { needed, renewed = Object.keys(needed) } = kind.inText ?? kind
  return renewed
}

/**
 * Makes credentials of single texts, as environment variables and mounted secrets hold them: one client of each kind of
 * which there are texts, and after it another one of the fields that end with `Next` where the first of these is there.
 */
export function clientsFromTexts(
  read: ReadText,
  kinds: CredentialsKinds,
): { readonly clients: readonly ClientCredentials[] } | { readonly faults: readonly CredentialsFault[] } {
  const clients: ClientCredentials[] = []
  const faults = new Map<string, CredentialsFault>()
  for (const kind of kindsIn(read, kinds)) {
    const fields = kind.inText ?? kind
    const renewed = renewedFields(kind)
    for (const suffix of read(`${markOf(fields)}Next`) ? ['', 'Next'] : ['']) {
      const named = (field: string): string => (renewed.includes(field) ? field + suffix : field)
      const texts = fieldsOf(fields)
        .filter((field) => suffix === '' || field !== 'secretIssuedAt')
        .map((field) => {
          const text = read(named(field))
          return [field, text === '' && field in fields.optional ? undefined : text] as const
        })
      const one = clientInTexts(Object.fromEntries(texts), kind)
      if ('client' in one) clients.push(one.client)
      else
        for (const { field = '', ...fault } of one.faults)
          faults.set(named(field), { field: named(field), ...fault })
    }
  }
  return faults.size > 0 ? { faults: [...faults.values()] } : { clients }
}

/** Returns the client of one kind in fields that hold texts. */
export function clientInTexts(
  texts: Readonly<Record<string, unknown>>,
  kind: CredentialsKind,
): ReturnType<typeof readClient> {
  const fields = kind.inText?.credentials(texts) ?? texts
  const { secretIssuedAt: text } = fields
  return readClient(text === undefined ? fields : { ...fields, secretIssuedAt: parseIsoDate(text) }, [kind])
}

const isoDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

/** Reads an ISO 8601 date, with a time or without (then 00:00 UTC); an invalid date for anything else. */
export function parseIsoDate(text: unknown): Date {
  return new Date(typeof text === 'string' && isoDate.test(text) ? text : Number.NaN)
}

/** Returns what is wrong with a text, to follow what it is called: `is missing`. */
export function textFault({ field, given, allowed }: CredentialsFault): string {
  if (given === 'missing' || given === 'empty') return `is ${given}`
  return field === 'secretIssuedAt'
    ? 'is not an ISO 8601 date, such as 2026-11-21'
    : `is ${given}; allowed: ${allowed}`
}
