/**
 * Returns the environment variable of a field of the credentials, such as `GENERAL_CLIENT_SECRET`, or the field and where it
 * is read if that is not the environment.
 *
 * @param readFrom what the configuration says of the place: `GENERAL_CLIENT_ID, GENERAL_CLIENT_SECRET`.
 */
export function placeOf(field: string, readFrom: string): string {
  return variableOf(field, readFrom) ?? `\`${field}\` in ${readFrom}`
}

/** Returns the environment variable of a field of the credentials; `undefined` if they are not in the environment. */
export function variableOf(field: string, readFrom: string): string | undefined {
  const [, prefix] = /^(\w+)_CLIENT_ID\b/.exec(readFrom) ?? []
  return prefix && `${prefix}_${field.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}
