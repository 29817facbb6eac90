import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

/** Without a prototype, as axios copies: a polluted one must not add options. */
export function copyOf(given: Config, changes?: object): Config {
  const copy = Object.create(null) as Record<PropertyKey, unknown>
  for (const name of Reflect.ownKeys(given)) copy[name] = given[name as keyof Config]
  return Object.assign(copy, changes) as unknown as Config
}
