import { resolve } from 'node:path'
import { assertionFile } from '../credentials/text-file.ts'
import type { AssertionProvider } from '../credentials/credentials.ts'
import { refusingTo } from '../options/check.ts'
import { text } from '../options/reader.ts'

/**
 * Returns a function that reads an assertion from a file at every token request, such as a token that Kubernetes projects
 * into a pod. Nothing is cached and no timer runs, so a replaced file is used at the next token request.
 *
 * @param path Path of the file; a relative one is resolved against the current working directory.
 * @throws TokenlaneError `INVALID_OPTIONS` for a path that is empty or not a string; at a token request
 * `CREDENTIALS_UNAVAILABLE`, which names the path and is retried like any failed renewal.
 * @example
 * ```ts
 * oauthIssuer({
 *   issuer: 'https://auth.example.com',
 *   credentials: { clientId: 'orders', assertion: fileAssertion('/var/run/secrets/tokens/auth') },
 * })
 * ```
 */
export function fileAssertion(path: string): AssertionProvider {
  refusingTo('create assertion', () => text('a file path')(path, 'path'))
  return assertionFile(resolve(path))
}
