import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

/** Copies without a prototype, as axios does, against polluted ones; with these changes. */
export function copyOf(given: Config, changes?: object): Config {
  return Object.setPrototypeOf({ ...given, ...changes }, null) as Config
}
