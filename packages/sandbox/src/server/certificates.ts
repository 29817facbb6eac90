import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import tls from 'node:tls'

import { generate } from 'selfsigned'

import { alternativeNames, placeOf } from './place.ts'

/** What a TLS server on this machine needs, and what its clients must trust. All PEM, with a newline at the end. */
export interface Certificates {
  /** Certificate of the authority, made for this sandbox only; its key is thrown away. */
  ca: string
  cert: string
  key: string
}

const ellipticCurve = { keyType: 'ec', algorithm: 'sha256' } as const

/** Makes an authority. Returns its certificate, and a key with the certificate for these names and addresses. */
export async function makeCertificates(names: readonly string[] = placeOf({}).names): Promise<Certificates> {
  // a client that trusts two authorities with the same name can take the wrong one
  const name = `Tokenlane sandbox CA ${randomUUID()}`
  const authority = await generate([{ name: 'commonName', value: name }], {
    ...ellipticCurve,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const leaf = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...ellipticCurve,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: alternativeNames(names),
      },
    ],
  })
  return { ca: line(authority.cert), cert: line(leaf.cert), key: line(leaf.private) }
}

const line = (text: string): string => `${text.trim()}\n`

const certificate = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[^]+?-----END \1-----/g

/**
 * Returns the certificates (PEM) that the environment of this process adds to the trusted ones, such as that of a proxy that
 * opens TLS: a program whose NODE_EXTRA_CA_CERTS names the sandbox's file must go on trusting them. Empty for a file that
 * cannot be read.
 */
export function trustedBefore(file: string | undefined = process.env['NODE_EXTRA_CA_CERTS']): string {
  try {
    const certificates = file === undefined ? [] : (readFileSync(file, 'utf8').match(certificate) ?? [])
    return certificates.map((each) => `${each}\n`).join('')
  } catch {
    return ''
  }
}

/**
 * Lets this process trust an authority (PEM), where the runtime can change that after its start. The function that is returned
 * ends it.
 */
export function trustInThisProcess(ca: string): () => void {
  // Bun and Deno have neither function
  const { getCACertificates: trusted, setDefaultCACertificates: trust } = tls as Partial<typeof tls>
  if (trusted === undefined || trust === undefined) return () => {}
  trust([...trusted('default'), ca])
  return () => trust(trusted('default').filter((one) => one.trim() !== ca.trim()))
}
