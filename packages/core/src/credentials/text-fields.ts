import { type ClientForm, type CredentialsFault, optionalFields, readClient } from './client.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type Credentials,
  type CredentialsProvider,
  type Proof,
  proofOf,
} from './credentials.ts'

/** The fields that differ in the client that is tried when the first is refused; their names end with `Next`. */
const rotated: Readonly<Record<Proof, readonly string[]>> = {
  secret: ['clientSecret'],
  key: ['privateKey', 'keyId'],
  certificate: ['certificate', 'privateKey'],
}

/** Returns the fields that a client needs, in the order in which an operator looks for them. */
export function fieldsFor(method: ClientAuthenticationMethod): readonly string[] {
  return ['clientId', ...rotated[proofOf(method)]]
}

/**
 * Returns a provider that reads texts, and whose credentials `createTokenManager` checks at once.
 *
 * @param read throws for wrong credentials.
 * @param readsFrom names where it reads them, for tools.
 */
export function textProvider(
  read: (form: ClientForm) => readonly ClientCredentials[],
  readsFrom: (method: ClientAuthenticationMethod) => string,
): CredentialsProvider {
  const forms = new Map<string, ClientForm>()
  const provide: CredentialsProvider = ({ clientAuthentication: method = 'client_secret_post' }) =>
    read(forms.get(method) ?? { method }) as readonly Credentials[]
  return Object.assign(provide, {
    check(method: ClientAuthenticationMethod, checks?: ClientForm['checks']) {
      const form = { method, checks }
      forms.set(method, form)
      read(form)
    },
    readsFrom,
  })
}

/**
 * Makes credentials of single texts, as environment variables and mounted secrets hold them: one client, and another
 * one of the fields that end with `Next` where the first of these is there.
 *
 * @param read gives the text of a field without white space around it, `undefined` where it is missing.
 */
export function clientsFromTexts(
  read: (field: string) => string | undefined,
  form: ClientForm,
): { readonly clients: readonly ClientCredentials[] } | { readonly faults: readonly CredentialsFault[] } {
  const renewed = rotated[proofOf(form.method)]
  const clients: ClientCredentials[] = []
  const faults = new Map<string, CredentialsFault>()
  for (const suffix of read(`${renewed[0]}Next`) ? ['', 'Next'] : ['']) {
    const named = (field = ''): string => (renewed.includes(field) ? field + suffix : field)
    const fields = ['clientId', ...renewed, 'algorithm', ...(suffix === '' ? ['secretIssuedAt'] : [])]
    const texts = fields.map((field) => {
      const text = read(named(field))
      return [field, text === '' && optionalFields.has(field) ? undefined : text] as const
    })
    const one = readClient(withDate(Object.fromEntries(texts)), form)
    if ('client' in one) clients.push(one.client)
    else
      for (const { field, given, allowed } of one.faults)
        faults.set(named(field), { field: named(field), given, allowed })
  }
  return faults.size > 0 ? { faults: [...faults.values()] } : { clients }
}

/** Returns the fields with the date as a `Date`, if it is one. */
export function withDate(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { secretIssuedAt: text, ...others } = fields
  return text === undefined ? others : { ...others, secretIssuedAt: parseIsoDate(text) }
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
