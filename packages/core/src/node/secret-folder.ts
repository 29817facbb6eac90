import { readlinkSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ClientCredentials, unreadable } from '../credentials/credentials.ts'
import type { TextKinds } from '../credentials/client.ts'
import { clientsFromTexts, textFault } from '../credentials/text-fields.ts'
import { ifThere, textIfThere } from '../credentials/text-file.ts'

/** Returns the credentials in a folder with one file per field, all of one version of the folder. */
export function readFolder(path: string, kinds: TextKinds): readonly ClientCredentials[] {
  let version: string
  let found: ReturnType<typeof clientsFromTexts>
  do {
    version = versionOf(path)
    found = clientsFromTexts((field) => textIfThere(join(version, field)), kinds)
    // a folder that was swapped meanwhile may have lacked a field
  } while (versionOf(path) !== version)
  if ('clients' in found) return found.clients
  const faults = found.faults.map((fault) => `the file ${join(path, fault.field ?? '')} ${textFault(fault)}`)
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
