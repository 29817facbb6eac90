import { inspect } from 'node:util'

import { printed } from './printed.ts'
import { secret, token } from './provocations.ts'

/** Returns those of the values that show a secret or a token in print. */
export function leaksIn(values: readonly unknown[]): string[] {
  return leaking(values, printed)
}

/** The same for what is Tokenlane's own, which shows none of its hidden properties and getters either. */
export function hiddenLeaksIn(values: readonly unknown[]): string[] {
  return leaking(
    values,
    (value) => printed(value) + inspect(value, { depth: Infinity, showHidden: true, getters: true }),
  )
}

function leaking(values: readonly unknown[], show: (value: unknown) => string): string[] {
  return values
    .filter((value) => [secret, token].some((text) => show(value).includes(text)))
    .map((value) => inspect(value, { depth: 0 }).slice(0, 80))
}
