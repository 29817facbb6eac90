import { randomUUID } from 'node:crypto'

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
