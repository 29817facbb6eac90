import { readFileSync } from 'node:fs'
import tls from 'node:tls'

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
