/** Returns the items grouped by a key, so that what has one cause gets one finding. Groups keep the order of the items. */
export function groupsBy<T>(items: readonly T[], keyOf: (item: T) => unknown): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = JSON.stringify(keyOf(item))
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

/** Returns names that commas separate with `and` before the last one. */
export function listed(names: string): string {
  return names.replace(/, (?=[^,]*$)/, ' and ')
}
