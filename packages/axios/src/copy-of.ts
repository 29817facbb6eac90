import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

export function copyOf(given: Config, changes?: object): Config {
  return Object.setPrototypeOf({ ...given, ...changes }, null) as Config
}
