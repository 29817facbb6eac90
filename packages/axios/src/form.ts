import type { AxiosRequestConfig } from 'axios'

/** A form of the `form-data` package, which axios also makes of plain data: a stream that can be read once. */
interface PackageForm {
  getBoundary(): string
  setBoundary(boundary: string): void
  append(name: string, part: unknown, options: { readonly header: unknown }): void
  /** Before it is read: the header of each part, the part, and a function that ends it. */
  readonly ['_streams']: readonly unknown[]
}

/**
 * Returns what gives each attempt the form: to the first the given one, to others a new one of the same parts. Returns
 * `undefined` for what is no such form, and for one with a part that can be read once.
 */
export function formOf(data: unknown): (() => Pick<AxiosRequestConfig, 'data'>) | undefined {
  if (!isRepeatable(data)) return undefined
  let parts: readonly unknown[] | undefined
  return () => {
    if (parts !== undefined) return { data: formWith(parts, data) }
    parts = [...data['_streams']]
    return { data }
  }
}

function isRepeatable(data: unknown): data is PackageForm {
  const form = data as Partial<PackageForm> | null | undefined
  return (
    typeof form?.setBoundary === 'function' &&
    form['_streams']?.every((part, at) =>
      at % 3 === 2 ? typeof part === 'function' : typeof part === 'string' || ArrayBuffer.isView(part),
    ) === true
  )
}

function formWith(parts: readonly unknown[], given: PackageForm): PackageForm {
  let prototype: object = given
  // what extends the package's class may take other arguments
  while (!Object.hasOwn(prototype, 'setBoundary')) prototype = Object.getPrototypeOf(prototype)
  const form = new (prototype.constructor as new () => PackageForm)()
  form.setBoundary(given.getBoundary())
  for (let at = 0; at < parts.length; at += 3) form.append('', parts[at + 1], { header: parts[at] })
  return form
}
