import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as tls from 'node:tls'

/** The authorities that `NODE_EXTRA_CA_CERTS` adds to those of Node. */
export interface ExtraAuthorities {
  readonly file: string
  /** How many certificates this process has loaded from it. */
  readonly count: number
  /** Why it has not loaded all of them; goes on after the name of the file. */
  readonly fault?: string
  readonly fix?: string
}

/** Returns what became of `NODE_EXTRA_CA_CERTS`: Node goes on without what it cannot load. `undefined` if it is not set. */
export function lookAtExtraAuthorities(): ExtraAuthorities | undefined {
  const path = process.env['NODE_EXTRA_CA_CERTS']
  if (!path) return undefined
  const file = resolve(path)
  const count = tls.getCACertificates('extra').length
  return { file, count, ...(faultOf(file) ?? (count === 0 && tooLate)) }
}

interface Fault {
  readonly fault: string
  readonly fix: string
}

const tooLate: Fault = {
  fault: 'was not loaded when this process started',
  fix: 'Node only reads NODE_EXTRA_CA_CERTS at start-up: set it before that, not in a module. For this command, use --env-file.',
}

function faultOf(file: string): Fault | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    const { code = 'not a file' } = error as NodeJS.ErrnoException
    return { fault: `cannot be read (${code})`, fix: 'Correct the path in NODE_EXTRA_CA_CERTS.' }
  }
  const text = bytes.toString('latin1')
  if (/-----END [A-Z0-9 ]+-----[^\r\n]/.test(text))
    return {
      fault: 'has two certificates without a line break between them',
      fix: 'Put a line break after each `-----END CERTIFICATE-----`.',
    }
  const blocks = text.match(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^]*?-----END/g)
  if (blocks === null)
    return isCertificate(bytes)
      ? {
          fault: 'is a certificate in DER form',
          fix: `Convert it: openssl x509 -inform der -in ${file} -out ca.pem`,
        }
      : { fault: 'holds no certificate in PEM form', fix: 'Use a file with `-----BEGIN CERTIFICATE-----`.' }
  const broken = blocks.findIndex((block) => !isCertificate(`${block} CERTIFICATE-----\n`))
  if (broken === -1) return undefined
  return {
    fault: `is damaged (certificate ${broken + 1} of ${blocks.length} cannot be read)`,
    fix: 'Copy that certificate again, in full.',
  }
}

function isCertificate(data: string | Buffer): boolean {
  try {
    return new X509Certificate(data).raw.length > 0
  } catch {
    return false
  }
}
