import { mustBeObject, mustBeText, refuse } from '../options/check.ts'
import { Faults } from '../options/faults.ts'
import type { Reader } from '../options/reader.ts'

/** A field of the form that a token request sends. */
export type FormField = readonly [name: string, value: string]

/** The fields that the token request sets by itself. */
const reserved = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
])

/** Reads the `parameters` of an issuer; an array repeats its field. */
export const readParameters: Reader<readonly FormField[]> = (value, path) => {
  mustBeObject(value, path)
  const faults = new Faults()
  const fields = Object.entries(value).map(([name, given]) =>
    faults.collect(readParameter, name, given, `${path}.${name}`),
  )
  faults.raise()
  return fields.flatMap((field) => field ?? [])
}

function readParameter(name: string, given: unknown, path: string): FormField[] {
  if (reserved.has(name))
    refuse(
      path,
      'a field that Tokenlane sets',
      name === 'scope' ? 'the option `scope` for it' : `any field but ${[...reserved].join(', ')}`,
    )
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given]
  return texts.map((text): FormField => [name, mustBeText(text, path, 'text or an array of texts')])
}
