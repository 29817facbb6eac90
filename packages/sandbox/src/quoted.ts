/** Returns a value as a shell, and what reads files of variables, takes it; most values need no quotes. */
export const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
