import { isText, refuse, shape } from '../options/check.ts'
import type { Reader } from '../options/reader.ts'

export interface LimitedCall {
  /** In capitals. */
  readonly method: string
  readonly url: URL
}

/** Returns the values of the named segments of a path, joined; `undefined` for a call that does not match. */
export type Match = (method: string, path: string) => string | undefined

const form = /^(?:(?<method>[A-Z]+(?:-[A-Z]+)*)(?: (?=\/)|$))?(?<path>\/[^\s?#]*)?$/
const allowed = "a method in capitals, a path, or both, such as 'POST /orders/*', 'GET' or '/bases/:base/*'"

function patternOf(text: string): Match {
  const { method, path } = form.exec(text)?.groups ?? {}
  if (path === undefined) return (given) => (given === method ? '' : undefined)
  const segments = path.split('/').slice(1)
  const expression = segments.map((segment, index) => {
    if (segment === '*') return index === segments.length - 1 ? '.+' : '[^/]+'
    return /^:\w+$/.test(segment)
      ? '([^/]+)'
      : inOneForm(segment).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  })
  const matches = new RegExp(`^/${expression.join('/')}/?$`)
  return (given, pathname) => {
    if (method !== undefined && given !== method) return undefined
    const values = matches.exec(pathname)
    return values?.slice(1).join('/')
  }
}

/** APIs decode a segment: `A%2D1` and `A-1` count together. */
function inOneForm(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment))
  } catch {
    return segment
  }
}

export function matchOf(patterns: string | readonly string[]): Match {
  const all = [patterns].flat().map((pattern) => patternOf(pattern))
  return (method, pathname) => {
    const path = pathname.split('/').map(inOneForm).join('/')
    for (const match of all) {
      const values = match(method, path)
      if (values !== undefined) return values
    }
    return undefined
  }
}

export const readMatch: Reader<string | readonly string[]> = (value, path) => {
  const patterns = Array.isArray(value) ? (value as unknown[]) : [value]
  if (patterns.length === 0) refuse(path, 'empty', `${allowed}, or a list of them`)
  for (const pattern of patterns)
    if (!isText(pattern) || !form.test(pattern))
      refuse(path, isText(pattern) ? `'${pattern}'` : shape(pattern), allowed)
  return value as string | readonly string[]
}
