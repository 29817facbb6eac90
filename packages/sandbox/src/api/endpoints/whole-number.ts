/**
 * Returns the number that a text of digits stands for; `undefined` if it is out of range or has a sign, a fraction, an
 * exponent or a space.
 */
export function wholeNumber(text: string, { min, max }: { min: number; max: number }): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const number = Number(text)
  return number >= min && number <= max ? number : undefined
}
