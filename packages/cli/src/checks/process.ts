import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Settings of the process by which TLS protects nothing. */
export function checkProcess({ env }: Facts): Finding[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return []
  return [
    finding('tls-unverified', 'error', 'this process', {
      seen: 'NODE_TLS_REJECT_UNAUTHORIZED is 0: any certificate is accepted.',
      why: 'Any machine on the way can read the client secret and every token.',
      fix: "Unset NODE_TLS_REJECT_UNAUTHORIZED. For an authority of your own, name its certificate's file in NODE_EXTRA_CA_CERTS.",
    }),
  ]
}
