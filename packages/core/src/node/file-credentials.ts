import { readlinkSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fieldsOf, kindOf, type TextKinds } from '../credentials/client.ts'
import { type ClientCredentials, type CredentialsProvider, unreadable } from '../credentials/credentials.ts'
import { clientInTexts, clientsFromTexts, textFault, textProvider } from '../credentials/text-fields.ts'
import { ifThere, textIfThere, textIn } from '../credentials/text-file.ts'
import { has, isRecord, refusingTo, shape } from '../options/check.ts'
import { text } from '../options/reader.ts'

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
 * certificate (`clientId`, `certificate`, `privateKey`, or `clientId` and `pfx`, and where needed `passphrase`), and the
 * path of a file with an assertion (`clientId`, `assertionFile`, and where needed `assertionType`); in a folder also
 * `privateKeyNext`, `keyIdNext`, `certificateNext` and `pfxNext`. A folder holds the PKCS#12 file itself as `pfx`; JSON
 * holds its Base64 text.
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

function readFolder(path: string, kinds: TextKinds): readonly ClientCredentials[] {
  let version: string
  let found: ReturnType<typeof clientsFromTexts>
  do {
    version = versionOf(path)
    found = clientsFromTexts((field) => textIfThere(join(version, field)), kinds)
    // a folder that was swapped meanwhile may have lacked a field
  } while (versionOf(path) !== version)
  if (has(found, 'clients')) return found.clients
  const faults = found.faults.map((fault) => `the file ${join(path, fault.field)} ${textFault(fault)}`)
  throw unreadable(faults.join('; '))
}

/**
 * Kubernetes lays the files in a folder of their own per version, and points `..data` at the newest. The link is
 * read and not followed, since what it points at may be removed in the meantime.
 */
function versionOf(path: string): string {
  const folder = `the folder ${path}`
  const version = ifThere(() => readlinkSync(join(path, '..data')), folder, 'EINVAL')
  return version === undefined ? (ifThere(() => realpathSync(path), folder) ?? path) : resolve(path, version)
}

function readJson(path: string, kinds: TextKinds): readonly ClientCredentials[] {
  const json = textIn(path)
  let content: unknown
  try {
    content = JSON.parse(json)
  } catch {
    // without the reason, which quotes the text
    throw unreadable(`the file ${path} is not JSON`)
  }
  if (!Array.isArray(content)) return [clientIn(content, path, '', kinds)]
  if (content.length === 0) throw unreadable(`the file ${path} is an empty array`)
  return content.map((client, index) => clientIn(client, path, `[${index}]`, kinds))
}

/** @param position of the client in the file's array, as `[0]`; empty where the file is one client. */
function clientIn(value: unknown, path: string, position: string, kinds: TextKinds): ClientCredentials {
  const where = `the file ${path}${position && `: \`${position}\``}`
  if (!isRecord(value)) throw unreadable(`${where} is ${shape(value)}, not an object`)
  const kind = kindOf(value, kinds)
  const names = fieldsOf(kind)
  // not named: a key is content, too
  if (Object.keys(value).some((key) => !names.includes(key)))
    throw unreadable(`${where} has a field other than ${names.join(', ')}`)
  const read = clientInTexts(value, kind)
  if (has(read, 'client')) return read.client
  const faults = read.faults.map(
    (fault) => `\`${[position, fault.field].filter(Boolean).join('.')}\` ${textFault(fault)}`,
  )
  throw unreadable(`the file ${path}: ${faults.join('; ')}`)
}
