/** Parses digits only: no sign, fraction, exponent or space. `undefined` if malformed or out of range. */
export function wholeNumber(text: string, { min, max }: { min: number; max: number }): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const number = Number(text)
  return number >= min && number <= max ? number : undefined
}
