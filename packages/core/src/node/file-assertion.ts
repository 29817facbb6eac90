import { resolve } from 'node:path'
import { assertionFile } from '../credentials/assertion-file.ts'
import type { AssertionProvider } from '../credentials/credentials.ts'
import { TokenlaneError } from '../errors.ts'
import { shape } from '../options/check.ts'

/**
 * Returns an assertion that is read from a file at every token request, such as a token that Kubernetes projects into a
 * pod. Nothing of it is kept and no timer runs, so that a file which was replaced is used at the next token request.
 *
 * @param path Of the file; a relative one starts at the working directory of now.
 * @throws TokenlaneError `INVALID_OPTIONS` for a path that is empty or not text; at a token request
 * `CREDENTIALS_UNAVAILABLE`, which names the path, and is tried again like any failed renewal.
 * @example
 * ```ts
 * oauthIssuer({
 *   issuer: 'https://auth.example.com',
 *   credentials: { clientId: 'orders', assertion: fileAssertion('/var/run/secrets/tokens/auth') },
 * })
 * ```
 */
export function fileAssertion(path: string): AssertionProvider {
  if (typeof path !== 'string' || path === '')
    throw new TokenlaneError(
      'INVALID_OPTIONS',
      `Cannot create assertion: \`path\` is ${shape(path)}; allowed: a file path`,
    )
  return assertionFile(resolve(path))
}
