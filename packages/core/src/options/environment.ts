import { mustBeObject, refuse, shape } from './check.ts'
import { optional, type Reader, text } from './reader.ts'

/** One URL for all environments, or one per environment, by name. */
export type PerEnvironment = string | Readonly<Record<string, string>>

/** Reads a URL that may be given per environment: `read` reads each of them. */
export type ReadUrl = (value: unknown, path: string, read: Reader<URL>) => URL

/** Reads the name of the environment that this process is in. */
export const readEnvironment: Reader<string | undefined> = optional(
  text('a name, such as testing or production'),
)

/**
 * Returns what picks the URLs of the environment that this process is in.
 *
 * It checks every URL that is given by environment, also those of the other environments. No origin may serve two
 * environments: a copy-paste there would send production secrets to a testing host.
 */
export function urlsOf(environment: unknown): ReadUrl {
  const origins = new Map<string, { name: string; path: string }>()
  return (value, path, read) => {
    if (typeof value !== 'object') return read(value, path)
    mustBeObject(value, path)
    const urls = new Map<unknown, URL>()
    for (const [name, given] of Object.entries(value)) {
      const urlPath = `${path}.${name}`
      const url = read(given, urlPath)
      const known = origins.get(url.origin) ?? { name, path: urlPath }
      if (known.name !== name)
        refuse(
          urlPath,
          `on the same origin as \`${known.path}\` (${url.origin})`,
          'an origin per environment',
        )
      origins.set(url.origin, known)
      urls.set(name, url)
    }
    const given = typeof environment === 'string' ? 'not one of its names' : shape(environment)
    const names = [...urls.keys()].join(', ')
    return (
      urls.get(environment) ??
      refuse('environment', given, `one of ${names}, since \`${path}\` is given per environment`)
    )
  }
}
