import { isText, shape } from '../options/check.ts'
import type { Check } from './client.ts'

/** Returns what is wrong with text that must be PEM of this label, a regular expression. */
export function pemFault(value: unknown, label: string): ReturnType<Check> {
  const name = label === 'CERTIFICATE' ? label : 'PRIVATE KEY'
  const allowed = `PEM text that begins with -----BEGIN ${name}-----`
  if (!isText(value)) return { given: shape(value), allowed }
  if (new RegExp(`-----BEGIN ${label}-----[^]+-----END ${label}-----`).test(value)) return undefined
  const convert = /BEGIN \w+ PRIVATE KEY/.test(value)
    ? ' (convert it with `openssl pkcs8 -topk8 -nocrypt`)'
    : ''
  return { given: `a string in another format${formatOf(value)}`, allowed: allowed + convert }
}

function formatOf(text: string): string {
  const [, label] = /-----BEGIN ([A-Z ]{1,40})-----/.exec(text) ?? []
  if (label !== undefined)
    return text.includes(`-----END ${label}`) ? ` (${label})` : ' (PEM that is cut off)'
  if (/^\s*\{/.test(text)) return ' (JSON: a JSON Web Key is given as an object)'
  return /^\s*LS0tLS1CRUdJT/.test(text) ? ' (Base64 of PEM)' : ''
}

/** In JSON and .env files, a line break of PEM or Base64 text may be a backslash and an n. */
export function withLineBreaks(pem: unknown): unknown {
  // or two of them, where it was escaped twice
  return isText(pem) ? pem.replaceAll(/\\+n/g, '\n') : pem
}
