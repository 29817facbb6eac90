/// <reference types="axios" resolution-mode="require" preserve="true" />
import type { CallOptions } from '@tokenlane/core/adapter' with { 'resolution-mode': 'import' }

/** Tokenlane's part of a request's config. */
export interface RequestOption {
  /** How Tokenlane treats this call. */
  tokenlane?: CallOptions | undefined
}

// axios has types of its own for CommonJS, which only a CommonJS file reaches; one parameter merges with every 1.x
declare module 'axios' {
  interface AxiosRequestConfig<D> extends RequestOption {}
}
