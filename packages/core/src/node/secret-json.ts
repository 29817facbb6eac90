import { shape } from '../options/check.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  unreadable,
} from '../credentials/credentials.ts'
import { credentialsFields, readCredentials } from '../credentials/read-credentials.ts'
import { parseIsoDate } from '../credentials/iso-date.ts'
import { readText } from './read-text.ts'

/** Returns the credentials in a JSON file: one client, or an array of them in the order in which to try them. */
export function readJson(path: string, method: ClientAuthenticationMethod): readonly ClientCredentials[] {
  const text = readText(path)
  if (!text) throw unreadable(`the file ${path} is ${text === undefined ? 'missing' : 'empty'}`)
  const content = parse(text)
  if (content === undefined) throw unreadable(`the file ${path} is not JSON`)
  if (!Array.isArray(content)) return [clientIn(content, path, '', method)]
  if (content.length === 0) throw unreadable(`the file ${path} is an empty array`)
  return content.map((client, index) => clientIn(client, path, `[${index}]`, method))
}

/** Without the reason, which quotes the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function clientIn(
  value: unknown,
  path: string,
  place: string,
  method: ClientAuthenticationMethod,
): ClientCredentials {
  const refuse = (key: string, fault: string): never => {
    const what = [place, key].filter(Boolean).join('.')
    throw unreadable(`the file ${path}${what && `: \`${what}\``} ${fault}`)
  }
  if (typeof value !== 'object' || value === null) return refuse('', `is ${shape(value)}, not an object`)
  const fields = credentialsFields(method)
  // not named: a key is content, too
  if (Object.keys(value).some((key) => !fields.includes(key)))
    return refuse('', `has another field than ${fields.join(', ')}`)
  const { secretIssuedAt: issuedAt, ...client } = value as Record<string, unknown>
  const secretIssuedAt = typeof issuedAt === 'string' ? parseIsoDate(issuedAt) : undefined
  const read = readCredentials({ ...client, secretIssuedAt }, method)
  if ('fault' in read) return refuse(read.fault.key ?? '', `is ${read.fault.given}`)
  if (issuedAt !== undefined && secretIssuedAt === undefined)
    return refuse('secretIssuedAt', 'is not an ISO 8601 date, such as 2026-11-21')
  return read.credentials
}
