import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

/** Copies without a prototype, as axios does, against polluted ones. Spreading such an object takes three times as long. */
export function copyOf(given: Config): Config {
  const copy = Object.create(null) as Config
  for (const name of Object.keys(given) as 'data'[]) copy[name] = given[name]
  for (const name of Object.getOwnPropertySymbols(given) as unknown[] as 'data'[]) copy[name] = given[name]
  return copy
}
