/** Whether a copy by `...` has all that an object has: it has no class whose getters the copy would miss. */
export function isLiteral(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype
}
