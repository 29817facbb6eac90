/** A form of the `form-data` package, which axios also makes of plain data: a stream that can be read once. */
interface PackageForm {
  getBoundary(): string
  setBoundary(boundary: string): void
  append(name: string, part: unknown, options: { readonly header: unknown }): void
  /** Before it is read: the header of each part, the part, and a function that ends it. */
  readonly ['_streams']: readonly unknown[]
}

/** The same form for each attempt: first the given one, then new ones of the same parts. */
type Forms = Iterator<unknown, never>

/** By the form that was given: axios-retry sends it again when it has been read, and waits for ever with axios alone. */
const known = new WeakMap<object, Forms>()

/** Returns `undefined` for what is no such form, and for one with a part that can be read once. */
export function formsOf(data: unknown): Forms | undefined {
  const form = data as PackageForm | null | undefined
  const isRepeatable = form?.['_streams']?.every(
    (part, at) => ArrayBuffer.isView(part) || typeof part === (at % 3 === 2 ? 'function' : 'string'),
  )
  if (isRepeatable !== true) return undefined
  const forms = known.get(form!) ?? equalForms(form!)
  known.set(form!, forms)
  return forms
}

function* equalForms(given: PackageForm): Generator<unknown, never> {
  const parts = [...given['_streams']]
  yield given
  let prototype: object = given
  // what extends the package's class may take other arguments
  while (!Object.hasOwn(prototype, 'setBoundary')) prototype = Object.getPrototypeOf(prototype)
  for (;;) {
    const form = new (prototype.constructor as new () => PackageForm)()
    form.setBoundary(given.getBoundary())
    for (let at = 0; at < parts.length; at += 3) form.append('', parts[at + 1], { header: parts[at] })
    yield form
  }
}
