/** Returns names that commas separate with `and` before the last one. */
export function listed(names: string): string {
  return names.replace(/, (?=[^,]*$)/, ' and ')
}
