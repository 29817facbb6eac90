import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { CertificateFacts, ServerFacts } from '../facts/server.ts'

const day = 86_400_000
/** A certificate with less time left than this is reported, in milliseconds. */
const soon = 14 * day

/** A server whose certificate was seen. */
type Shown = ServerFacts & { readonly certificate: CertificateFacts }

/** Finds certificates that are not accepted or end soon, and authorities that Node does not ship. */
export function checkCertificates({ servers, now }: Facts): Finding[] {
  const shown = servers.filter((server): server is Shown => server.certificate !== undefined)
  const unknown = shown.filter(({ certificateFailure: code }) => isUnknownAuthority(code))
  const refused = shown.filter(
    ({ certificateFailure: code }) => code !== undefined && !isUnknownAuthority(code),
  )
  const accepted = shown.filter(({ certificateFailure: code }) => code === undefined)
  return [
    ...byAuthority(unknown).map(unknownAuthority),
    ...refused.map(refusedCertificate),
    ...accepted.flatMap((server) => expiring(server, now)),
    ...byAuthority(accepted.filter(({ certificate }) => !certificate.isPublic)).map(privateAuthority),
  ]
}

/** Returns the servers grouped by authority, so that each authority gets one finding. */
function byAuthority(servers: readonly Shown[]): (readonly [authority: string, servers: readonly Shown[]])[] {
  const groups = new Map<string, Shown[]>()
  for (const server of servers) {
    const { authority } = server.certificate
    groups.set(authority, [...(groups.get(authority) ?? []), server])
  }
  return [...groups]
}

function unknownAuthority([authority, servers]: readonly [string, readonly Shown[]]): Finding {
  const hosts = new Set(servers.map(({ origin }) => new URL(origin).hostname))
  // one unknown authority signs for several hosts: a proxy on the way probably issues the certificates
  const guess = hosts.size > 1 ? ' One authority for several hosts: a proxy seems to open TLS.' : ''
  const [{ certificateFailure: code } = {}] = servers
  return finding('authority-unknown', 'error', `authority "${authority}"`, {
    seen: `It signs the certificate of ${originsOf(servers)}, and this process does not know it (${code}).${guess}`,
    why: 'Every request to these servers fails before anything is sent.',
    fix: "Get the authority's certificate from your network's operator, name its file in NODE_EXTRA_CA_CERTS, and start anew.",
  })
}

function privateAuthority([authority, servers]: readonly [string, readonly Shown[]]): Finding {
  return finding('authority-private', 'info', `authority "${authority}"`, {
    seen: `It signs the certificate of ${originsOf(servers)}. Node does not ship it.`,
    why: 'A server of your own does this, and so does a proxy that opens TLS and reads what passes.',
    fix: 'Nothing, if you know this authority.',
  })
}

function originsOf(servers: readonly Shown[]): string {
  return servers.map(({ origin }) => origin).join(', ')
}

function isUnknownAuthority(code: string | undefined): boolean {
  return /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED)/.test(code ?? '')
}

function refusedCertificate({ origin, roles, certificate, certificateFailure: code }: Shown): Finding {
  const { subject, from, until } = certificate
  const why = `Every request to ${roles.join(', ')} fails before anything is sent.`
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return finding('certificate-expired', 'error', origin, {
      seen: `The certificate is valid from ${dateOf(from)} to ${dateOf(until)} (${code}).`,
      why,
      fix: "Check this machine's clock. If it is right, the server's operator has to renew the certificate.",
    })
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return finding('certificate-host', 'error', origin, {
      seen: `The certificate is for another host, "${subject}" (${code}).`,
      why,
      fix: 'Correct the host name in the URL.',
    })
  return finding('certificate-wrong', 'error', origin, {
    seen: `The certificate is not accepted (${code}).`,
    why,
    fix: "The server's operator has to correct it.",
  })
}

function expiring({ origin, certificate: { until } }: Shown, now: Date): Finding[] {
  const left = until.getTime() - now.getTime()
  if (left >= soon) return []
  return [
    finding('certificate-expires', 'warning', origin, {
      seen: `The certificate ends on ${dateOf(until)}, in ${Math.floor(left / day)} days.`,
      why: 'From then on every request fails.',
      fix: "Tell the server's operator.",
    }),
  ]
}

function dateOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'an unknown day' : date.toISOString().slice(0, 10)
}
