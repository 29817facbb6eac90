import { mustBeObject, refuse, shape } from './check.ts'
import { mustBeSecureUrl } from './secure-url.ts'

/** One URL for all environments, or one per environment, by name. */
export type PerEnvironment = string | Readonly<Record<string, string>>

/**
 * Knows which environment this process is in, and picks its URLs.
 *
 * It checks every URL that is given by environment, also those of the other environments. No origin may serve two
 * environments: a copy-paste there would send production secrets to a testing host.
 */
export class Environment {
  readonly #name: string | undefined
  readonly #origins = new Map<string, { name: string; path: string }>()

  constructor(name: unknown) {
    if (name !== undefined && (typeof name !== 'string' || name === ''))
      refuse('environment', shape(name), 'a name, such as testing or production')
    this.#name = name
  }

  /** Returns the URL of this environment. */
  url(value: unknown, path: string, allowInsecureLoopback: boolean): URL {
    return typeof value === 'object'
      ? this.#pick(value, path, allowInsecureLoopback)
      : mustBeSecureUrl(value, path, allowInsecureLoopback)
  }

  /** Returns the URL of this environment among those of all, which are checked too. */
  #pick(value: unknown, path: string, allowInsecureLoopback: boolean): URL {
    mustBeObject(value, path)
    const names = Object.keys(value)
    if (this.#name === undefined)
      refuse(
        'environment',
        'missing',
        `one of ${names.join(', ')}, since \`${path}\` is given per environment`,
      )
    for (const name of names) {
      const url = mustBeSecureUrl(value[name], `${path}.${name}`, allowInsecureLoopback)
      this.#mustBeOneEnvironment(url, name, `${path}.${name}`)
    }
    if (!Object.hasOwn(value, this.#name))
      refuse('environment', `a name without a URL in \`${path}\``, `one of ${names.join(', ')}`)
    return new URL(value[this.#name] as string)
  }

  #mustBeOneEnvironment({ origin }: URL, name: string, path: string): void {
    const known = this.#origins.get(origin)
    if (known !== undefined && known.name !== name)
      refuse(path, `on the same origin as \`${known.path}\` (${origin})`, 'an origin per environment')
    this.#origins.set(origin, { name, path })
  }
}
