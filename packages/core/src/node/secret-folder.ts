import { readlinkSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  unreadable,
} from '../credentials/credentials.ts'
import { credentialsFromTexts } from '../credentials/text-fields.ts'
import { codeOf, readText } from './read-text.ts'

/** Returns the credentials in a folder with one file per field, all of one version of the folder. */
export function readFolder(path: string, method: ClientAuthenticationMethod): readonly ClientCredentials[] {
  let version = versionOf(path)
  let found = readFields(version, method)
  // the folder was swapped meanwhile: a field may be missing that the new version has
  for (let now = versionOf(path); now !== version; now = versionOf(path)) {
    version = now
    found = readFields(version, method)
  }
  if ('credentials' in found) return found.credentials
  const { missing, empty, noDate } = found.faults
  throw unreadable(
    [
      ...missing.map((name) => `the file ${join(path, name)} is missing`),
      ...empty.map((name) => `the file ${join(path, name)} is empty`),
      ...noDate.map((name) => `the file ${join(path, name)} is not an ISO 8601 date, such as 2026-11-21`),
    ].join('; '),
  )
}

function readFields(
  folder: string,
  method: ClientAuthenticationMethod,
): ReturnType<typeof credentialsFromTexts> {
  const texts = new Map<string, string | undefined>()
  return credentialsFromTexts((field) => {
    if (!texts.has(field)) texts.set(field, readText(join(folder, field)))
    return texts.get(field)
  }, method)
}

/**
 * Kubernetes lays the files in a folder of their own per version, and points `..data` at the newest. The link is
 * read and not followed, since what it points at may be removed in the meantime.
 */
function versionOf(path: string): string {
  const version = ifThere(() => readlinkSync(join(path, '..data')), path)
  return version === undefined ? (ifThere(() => realpathSync(path), path) ?? path) : resolve(path, version)
}

/** Returns `undefined` for what does not exist, or is not a link. */
function ifThere(look: () => string, path: string): string | undefined {
  try {
    return look()
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'EINVAL') return undefined
    throw unreadable(`the folder ${path} cannot be read (${code})`)
  }
}
