import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as tls from 'node:tls'

export interface ExtraAuthorities {
  readonly file: string
  /** How many certificates this process has loaded from it. */
  readonly count: number
  /** Why it has not loaded all of them, as far as is known; goes on after the name of the file. */
  readonly fault?: string
}

/** Returns what became of `NODE_EXTRA_CA_CERTS`: Node goes on without what it cannot load. `undefined` if it is not set. */
export function lookAtExtraAuthorities(): ExtraAuthorities | undefined {
  const path = process.env['NODE_EXTRA_CA_CERTS']
  if (!path) return undefined
  const file = resolve(path)
  const count = tls.getCACertificates('extra').length
  try {
    const blocks = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^]*?-----END/g
    const { size } = new Set(readFileSync(file, 'latin1').match(blocks))
    if (count > 0 && count >= size) return { file, count }
    return { file, count, fault: `has ${size} certificate${size === 1 ? '' : 's'} in PEM form` }
  } catch (error) {
    return { file, count, fault: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'not a file'})` }
  }
}
