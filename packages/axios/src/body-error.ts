import type { InternalAxiosRequestConfig } from 'axios'

import { errorClasses } from './error-classes.ts'
import type { NativeClient } from './native-client.ts'

interface Death {
  readonly error?: unknown
  readonly isFetch: boolean
}

/** Returns the error with which axios ends a call whose body fails or is destroyed, made by the caller's copy of axios. */
export async function bodyError(
  native: NativeClient,
  config: InternalAxiosRequestConfig,
  { error, isFetch }: Death,
): Promise<unknown> {
  const { Class, Canceled } = await errorClasses(native, config)
  if (isFetch) return Object.assign(new Class('Network Error', 'ERR_NETWORK', config), { cause: error })
  if (error === undefined) return new Canceled('Request stream has been aborted', config)
  return Class.from(error, undefined, config)
}
