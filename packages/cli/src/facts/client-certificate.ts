import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { variableOf } from '../credential-variables.ts'

/**
 * Returns when a client's certificate expires; `undefined` if it is neither in a variable nor in a file of its own.
 *
 * @param readFrom what the configuration says of the place: the variables of `envCredentials`, or a folder.
 */
export function expiryOfCertificate(readFrom: string): Date | undefined {
  const variable = variableOf('certificate', readFrom)
  try {
    const pem =
      variable === undefined
        ? readFileSync(join(readFrom, 'certificate'), 'utf8')
        : process.env[variable]?.replaceAll('\\n', '\n')
    return pem === undefined ? undefined : new Date(new X509Certificate(pem).validTo)
  } catch {
    return undefined
  }
}
