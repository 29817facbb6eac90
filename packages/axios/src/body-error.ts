import type { AxiosError, InternalAxiosRequestConfig } from 'axios'

import { copyOf } from './copy-of.ts'
import type { NativeClient } from './native-client.ts'

type ErrorClass = typeof AxiosError
type CanceledClass = new (message: string, config: InternalAxiosRequestConfig) => AxiosError

/** How a body ended, and by which adapter it would have been sent. */
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
  // axios shows its classes on no instance: this ends before anything is sent
  const aborted = Object.assign(copyOf(config), { signal: AbortSignal.abort() })
  const canceled = await native.send(aborted, undefined).catch((reason: unknown) => reason)
  const Canceled = (canceled as Error).constructor as CanceledClass
  const Class = Object.getPrototypeOf(Canceled.prototype).constructor as ErrorClass
  if (isFetch) return Object.assign(new Class('Network Error', 'ERR_NETWORK', config), { cause: error })
  if (error === undefined) return new Canceled('Request stream has been aborted', config)
  return Class.from(error, undefined, config)
}
