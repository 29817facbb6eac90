import type { ClientAuthenticationMethod, ClientCredentials } from './credentials.ts'
import { proofOf } from './credentials.ts'
import { parseIsoDate } from './iso-date.ts'

/** What is wrong with the texts of one client, by field. */
export interface TextFaults {
  readonly missing: readonly string[]
  readonly empty: readonly string[]
  readonly noDate: readonly string[]
}

const needed = {
  secret: ['clientId', 'clientSecret'],
  key: ['clientId', 'privateKey'],
  certificate: ['clientId', 'certificate', 'privateKey'],
} as const

/** The fields that differ in the client that is tried when the first is refused; their names end with `Next`. */
const renewed = {
  secret: ['clientSecret'],
  key: ['privateKey', 'keyId'],
  certificate: ['certificate', 'privateKey'],
} as const

/**
 * Makes credentials of single texts, as environment variables and mounted secrets hold them: one client, and another
 * one of the fields that end with `Next` where the first of these is there.
 *
 * @param read gives the text of a field without white space around it, `undefined` where it is missing.
 */
export function credentialsFromTexts(
  read: (field: string) => string | undefined,
  method: ClientAuthenticationMethod,
): { readonly credentials: readonly ClientCredentials[] } | { readonly faults: TextFaults } {
  const proof = proofOf(method)
  const issuedAt = read('secretIssuedAt')
  const date = issuedAt ? parseIsoDate(issuedAt) : undefined
  const faults = {
    missing: needed[proof].filter((field) => read(field) === undefined),
    empty: needed[proof].filter((field) => read(field) === ''),
    noDate: issuedAt && date === undefined ? ['secretIssuedAt'] : [],
  }
  if (Object.values(faults).some(({ length }) => length > 0)) return { faults }
  const texts = (fields: readonly string[], suffix = ''): Record<string, string> =>
    Object.fromEntries(fields.flatMap((field) => pair(field, read(field + suffix))))
  const [first] = renewed[proof]
  const current = { ...texts([...needed[proof], ...renewed[proof]]), secretIssuedAt: date }
  const next = { ...texts(['clientId']), ...texts(renewed[proof], 'Next') }
  const credentials = read(`${first}Next`) ? [current, next] : [current]
  return { credentials: credentials as unknown as ClientCredentials[] }
}

function pair(field: string, text: string | undefined): [string, string][] {
  return text ? [[field, text]] : []
}
