import { inspect } from 'node:util'

import { secret, token } from './provocations.ts'
import { serialized } from './secrets.ts'

/** The ways in which things get into logs, and those of them that show a secret or a token. */
export function leaksIn(values: readonly unknown[], depth: number): string[] {
  return values.flatMap((value) => {
    const ways = {
      log: inspect(value),
      inspect: inspect(value, {
        depth,
        // what a client hides, it may still hold
        showHidden: depth === Infinity,
        getters: depth === Infinity,
        maxArrayLength: null,
        maxStringLength: null,
      }),
      json: serialized(value),
      text: String(value),
      // as structured loggers take errors apart
      fields: serialized(asFields(value)),
    }
    return Object.entries(ways)
      .filter(([, text]) => text.includes(secret) || text.includes(token))
      .map(([way]) => `${way} of ${inspect(value, { depth: 0 }).slice(0, 80)}`)
  })
}

function asFields(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { ...Object.fromEntries(Object.entries(value)), name, message, stack, cause: asFields(cause) }
}
