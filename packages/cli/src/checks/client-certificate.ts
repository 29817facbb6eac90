import type { Facts } from '../facts/facts.ts'
import type { TokenFacts, TokenFailure } from '../facts/token.ts'
import { placeOf } from '../credential-variables.ts'
import { dateOf } from './words.ts'

/** Returns the issuer's `clientAuthentication`; '' if the module failed before it could be read. */
export function methodOf(issuer: string, { configuration }: Facts): string {
  return configuration.issuers.find(({ name }) => name === issuer)?.clientAuthentication ?? ''
}

/** The codes of TLS alerts about the client's certificate. */
const refusedCertificate = /_ALERT_(?:\w*CERTIFICATE|UNKNOWN_CA)/

/**
 * Returns whether the issuer ended the connection because of the client's certificate, as far as can be known: several
 * servers close the connection without an alert.
 */
export function isCertificateRefused(failure: TokenFailure | undefined, method: string): boolean {
  const { transportCode = '', reason = '' } = failure ?? {}
  if (method !== 'tls_client_auth') return method === '' && refusedCertificate.test(transportCode)
  return (
    refusedCertificate.test(transportCode) ||
    transportCode.includes('_ALERT_HANDSHAKE_FAILURE') ||
    reason.includes('closed the connection')
  )
}

/** Returns a sentence about a certificate that has expired; '' if it has not, or that is not known. */
export function expiredText({ certificateUntil: until }: TokenFacts, now: Date): string {
  if (until === undefined || until > now) return ''
  return `The client certificate expired on ${dateOf(until)}.`
}

export function renewal(readFrom: string): string {
  return `Renew it: replace ${placeOf('certificate', readFrom)} and ${placeOf('privateKey', readFrom)}.`
}

/** Of what an API may want, the doctor has everything but this. */
export const ownCertificate =
  "For an API, the doctor presents no client certificate: if the application's client does, there is nothing to fix."

export function refusedCertificateFix(
  { transportCode = '' }: TokenFailure,
  readFrom: string,
  isExpired: boolean,
): string {
  if (isExpired) return renewal(readFrom)
  const verb = refusedCertificate.test(transportCode) ? 'refuses' : 'may refuse'
  return `The issuer ${verb} this client's certificate: check the end date of ${placeOf('certificate', readFrom)} (\`openssl x509 -noout -enddate\`), and whether the issuer trusts its CA. If both are right, tell the issuer's operator.`
}
