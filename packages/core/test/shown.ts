import { format, inspect } from 'node:util'

/** The ways in which things get into logs. */
export function shown(value: unknown): string {
  return [
    inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    JSON.stringify(value),
    JSON.stringify(fieldsOf(value)),
    format('%s', value),
  ].join()
}

/** What structured loggers make of an error and its causes. */
function fieldsOf(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { ...Object.fromEntries(Object.entries(value)), name, message, stack, cause: fieldsOf(cause) }
}
