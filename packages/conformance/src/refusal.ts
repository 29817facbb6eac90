import { isTokenlaneError, type TokenlaneError } from '@tokenlane/core'

/** Returns the error of ours that a call rejected with, or that its client has wrapped as the cause. */
export function refusalIn(error: unknown): TokenlaneError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause)
    if (isTokenlaneError(inner)) return inner
  return undefined
}
