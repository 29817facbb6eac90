import type { AxiosError, InternalAxiosRequestConfig } from 'axios'

import { copyOf } from './copy-of.ts'
import type { NativeClient } from './native-client.ts'

type CanceledClass = new (message: string, config: InternalAxiosRequestConfig) => AxiosError

export interface ErrorClasses {
  readonly Class: typeof AxiosError
  readonly Canceled: CanceledClass
}

/** axios shows its classes on no instance, but on the error of a call that ends before anything is sent. */
export async function errorClasses(
  native: NativeClient,
  config: InternalAxiosRequestConfig,
): Promise<ErrorClasses> {
  const aborted = copyOf(config, { signal: AbortSignal.abort() })
  const canceled = await native.send(aborted, undefined).catch((reason: unknown) => reason)
  const Canceled = (canceled as Error).constructor as CanceledClass
  return { Canceled, Class: Object.getPrototypeOf(Canceled.prototype).constructor }
}
