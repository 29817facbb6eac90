import { isRecord, shape } from '../options/check.ts'
import { fieldsOf, kindOf, type TextKinds } from '../credentials/client.ts'
import { type ClientCredentials, unreadable } from '../credentials/credentials.ts'
import { clientInTexts, textFault } from '../credentials/text-fields.ts'
import { textIn } from '../credentials/text-file.ts'

/** Returns the credentials in a JSON file: one client, or an array of them in the order in which to try them. */
export function readJson(path: string, kinds: TextKinds): readonly ClientCredentials[] {
  const text = textIn(path)
  let content: unknown
  try {
    content = JSON.parse(text)
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
  if ('client' in read) return read.client
  const faults = read.faults.map(
    (fault) => `\`${[position, fault.field].filter(Boolean).join('.')}\` ${textFault(fault)}`,
  )
  throw unreadable(`the file ${path}: ${faults.join('; ')}`)
}
