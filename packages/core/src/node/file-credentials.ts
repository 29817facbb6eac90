import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { refusingTo } from '../options/check.ts'
import { text } from '../options/reader.ts'
import type { CredentialsProvider } from '../credentials/credentials.ts'
import { textProvider } from '../credentials/text-fields.ts'
import { ifThere } from '../credentials/text-file.ts'
import { readFolder } from './secret-folder.ts'
import { readJson } from './secret-json.ts'

/**
 * Reads credentials from a JSON file or a mounted folder before each token request, and again when the issuer refuses
 * them: a rotated secret is used without a restart.
 *
 * - A JSON file holds `{ "clientId", "clientSecret", "secretIssuedAt"? }`, or an array of these in the order to try
 *   them (current, next); `secretIssuedAt` is an ISO 8601 date. Replace the file by renaming: a half-written file
 *   counts as unavailable until it is complete.
 * - A folder holds one file per field: `clientId`, `clientSecret`, and if they exist, `clientSecretNext` (tried when
 *   the first is refused) and `secretIssuedAt`. Surrounding white space is ignored, and so are other files. If the
 *   folder is swapped by a symbolic link, as Kubernetes does, all fields come from the same version.
 *
 * An `oauthIssuer` also accepts a key (`clientId`, `privateKey`, and where needed `keyId` and `algorithm`), a
 * certificate (`clientId`, `certificate`, `privateKey`), and the path of a file with an assertion (`clientId`,
 * `assertionFile`, and where needed `assertionType`); in a folder also `privateKeyNext`, `keyIdNext` and
 * `certificateNext`.
 *
 * @param path Path of the file or folder; a relative one is resolved against the current working directory.
 * @throws TokenlaneError `INVALID_OPTIONS` for a path that is empty or not a string, and from `createTokenManager` if
 * there are no usable credentials at start-up; later `CREDENTIALS_UNAVAILABLE`, which is retried like any failed
 * renewal. Both name the path and the field, never the content.
 * @example
 * ```ts
 * generalIssuer({ authUrl: 'https://auth.example.com', credentials: fileCredentials('/run/secrets/general') })
 * ```
 */
export function fileCredentials(path: string): CredentialsProvider {
  refusingTo('create credentials provider', () => text('the path of a JSON file or folder')(path, 'path'))
  const absolute = resolve(path)
  const isFolder = (): boolean => ifThere(() => statSync(absolute).isDirectory(), absolute) === true
  return textProvider(
    (kinds) => (isFolder() ? readFolder(absolute, kinds) : readJson(absolute, kinds)),
    () => absolute,
  )
}
