import { readlinkSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Credentials, unreadable } from '../credentials/credentials.ts'
import { parseIsoDate } from '../credentials/iso-date.ts'
import { codeOf, readText } from './read-text.ts'

/** Credentials from a folder with one file per field, all of one version of the folder. */
export function readFolder(path: string): readonly Credentials[] {
  let version = versionOf(path)
  let fields = readFields(version)
  // swapped meanwhile: a field may be gone that the new version has
  for (let now = versionOf(path); now !== version; now = versionOf(path)) {
    version = now
    fields = readFields(version)
  }
  const need = (name: 'clientId' | 'clientSecret'): string =>
    fields[name] || refuse(path, name, fields[name] === undefined ? 'is missing' : 'is empty')
  const clientId = need('clientId')
  const current = {
    clientId,
    clientSecret: need('clientSecret'),
    secretIssuedAt: fields.secretIssuedAt ? dateIn(fields.secretIssuedAt, path) : undefined,
  }
  const next = fields.clientSecretNext
  return next ? [current, { clientId, clientSecret: next }] : [current]
}

type Fields = Readonly<
  Record<'clientId' | 'clientSecret' | 'clientSecretNext' | 'secretIssuedAt', string | undefined>
>

function readFields(folder: string): Fields {
  return {
    clientId: readText(join(folder, 'clientId')),
    clientSecret: readText(join(folder, 'clientSecret')),
    clientSecretNext: readText(join(folder, 'clientSecretNext')),
    secretIssuedAt: readText(join(folder, 'secretIssuedAt')),
  }
}

/**
 * Kubernetes lays the files in a folder of their own per version, and points `..data` at the newest. The link is
 * read and not followed, since what it points at may be removed in the meantime.
 */
function versionOf(path: string): string {
  const version = found(() => readlinkSync(join(path, '..data')), path)
  return version === undefined ? (found(() => realpathSync(path), path) ?? path) : resolve(path, version)
}

/** `undefined` for what is not there, or is no link. */
function found(look: () => string, path: string): string | undefined {
  try {
    return look()
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'EINVAL') return undefined
    throw unreadable(`${path}: ${code}`)
  }
}

function dateIn(text: string, path: string): Date {
  return parseIsoDate(text) ?? refuse(path, 'secretIssuedAt', 'is no ISO 8601 date, such as 2026-11-21')
}

function refuse(folder: string, name: string, fault: string): never {
  throw unreadable(`the file ${join(folder, name)} ${fault}`)
}
