import { finding, type Finding } from '../doctor/finding.ts'
import type { ExtraAuthorities } from '../facts/extra-authorities.ts'
import type { Facts } from '../facts/facts.ts'
import type { CertificateFacts, ServerFacts } from '../facts/server.ts'
import { isRefusedForClock, ownClockOffset } from './clock.ts'
import { originsOf } from './connection.ts'
import { groupsBy } from './groups.ts'
import { listed } from './listed.ts'

const day = 86_400_000
/** A certificate with less time left than this is reported, in milliseconds. */
const soon = 14 * day

/** A server whose certificate was seen. */
type Shown = ServerFacts & { readonly certificate: CertificateFacts }

/**
 * Finds certificates that are not accepted or end soon, authorities that Node does not ship, and a file of authorities
 * that Node ignores. A certificate that only this machine's clock refuses is left to the finding of the clock.
 */
export function checkCertificates(facts: Facts): Finding[] {
  const { servers, extraAuthorities, shared } = facts
  const shown = servers.filter((server): server is Shown => server.certificate !== undefined)
  const unknown = shown.filter(({ certificateFailure: code }) => isUnknownAuthority(code))
  const refused = shown.filter(
    (server) =>
      server.certificateFailure !== undefined &&
      !unknown.includes(server) &&
      !isRefusedForClock(server, facts),
  )
  const accepted = shown.filter(({ certificateFailure: code }) => code === undefined)
  const isNeeded =
    unknown.length > 0 || shared.some(({ connection }) => isUnknownAuthority(connection?.outcome))
  const now = facts.now.getTime() - ownClockOffset(facts)
  return [
    ...(extraAuthorities?.fault === undefined
      ? byAuthority(unknown).map((group) => unknownAuthority(group, extraAuthorities))
      : [ignoredFile(extraAuthorities, isNeeded, unknown)]),
    ...refused.map(refusedCertificate),
    ...accepted.flatMap((server) => expiring(server, now)),
    ...privateAuthorities(accepted.filter(({ certificate }) => !certificate.isPublic)),
  ]
}

/** Returns whether a code says that an authority is not known. */
export function isUnknownAuthority(code: string | undefined): boolean {
  return /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED)/.test(code ?? '')
}

function byAuthority(servers: readonly Shown[]): readonly (readonly Shown[])[] {
  return groupsBy(servers, ({ certificate }) => certificate.authority)
}

function ignoredFile(
  { file, count, fault, fix = '' }: ExtraAuthorities,
  isNeeded: boolean,
  unknown: readonly Shown[],
): Finding {
  const certificates =
    unknown.length > 0 ? ` The certificate of ${listed(originsOf(unknown))} is refused.` : ''
  return finding('ca-file-ignored', isNeeded ? 'error' : 'warning', file, {
    seen: `NODE_EXTRA_CA_CERTS names this file, which ${fault}: Node has loaded ${count === 0 ? 'nothing' : `${count} certificate${count === 1 ? '' : 's'}`} from it.${certificates}`,
    why: 'Its CAs are not trusted, so every request to a server whose certificate they signed fails before anything is sent.',
    fix: `${fix} Then restart.`,
  })
}

function unknownAuthority(servers: readonly Shown[], extra: ExtraAuthorities | undefined): Finding {
  const [{ certificate, certificateFailure: code }] = servers as readonly [Shown]
  const hosts = new Set(servers.map(({ origin }) => new URL(origin).hostname))
  // one unknown authority signs for several hosts: a proxy on the way probably issues the certificates
  const guess = hosts.size > 1 ? ' One CA for several hosts is probably a TLS-intercepting proxy.' : ''
  // troubleshoot.md says the same by code
  const what =
    code === 'DEPTH_ZERO_SELF_SIGNED_CERT'
      ? "Get the server's certificate, which no CA signed, from its operator"
      : "Get the CA's certificate from your network's operator"
  const also =
    code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
      ? " If the CA is a public one, or is in that file already, the server does not send its intermediate certificate: tell the server's operator."
      : ''
  return finding('authority-unknown', 'error', `authority "${certificate.authority}"`, {
    seen: `It signed the certificate of ${listed(originsOf(servers))}, but this process does not trust it (${code}).${guess}`,
    why: 'Every request to these servers fails before anything is sent.',
    fix: `${what}, ${
      extra === undefined
        ? 'set NODE_EXTRA_CA_CERTS to its path and restart.'
        : `add it to ${extra.file} (the file in NODE_EXTRA_CA_CERTS, which has ${extra.count === 1 ? 'one other' : `${extra.count} others`}) and restart.`
    }${also}`,
  })
}

function privateAuthorities(servers: readonly Shown[]): Finding[] {
  if (servers.length === 0) return []
  const groups = byAuthority(servers)
  const names = groups.map(([one]) => `"${one?.certificate.authority}"`)
  return [
    finding('authority-private', 'info', firstOf(names), {
      seen: groups
        .map(
          (group, index) =>
            `${names[index]} signed the certificate of ${listed(originsOf(group))}. Node's built-in list does not include this CA.`,
        )
        .join(' '),
      why: 'Expected for your own servers. A TLS-intercepting proxy looks the same.',
      fix: 'Nothing, if you know this CA.',
    }),
  ]
}

function refusedCertificate({ origin, roles, certificate, certificateFailure: code }: Shown): Finding {
  const { subject, hosts = [], from, until } = certificate
  const why = `Every request to ${roles.join(', ')} fails before anything is sent.`
  const validity = `It is valid from ${dateOf(from)} to ${dateOf(until)} (${code}).`
  if (code === 'CERT_HAS_EXPIRED')
    return finding('certificate-expired', 'error', origin, {
      seen: `The certificate expired on ${dateOf(until)}. ${validity}`,
      why,
      fix: "Check this machine's clock. If it is right, the server's operator has to renew the certificate.",
    })
  if (code === 'CERT_NOT_YET_VALID')
    return finding('certificate-not-yet-valid', 'error', origin, {
      seen: `The certificate is not valid until ${dateOf(from)}. ${validity}`,
      why,
      fix: "Check this machine's clock. If it is right, the server's operator has to install a valid certificate.",
    })
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return finding('certificate-host', 'error', origin, {
      seen: `The certificate is for ${hosts.length > 1 ? 'other hosts' : 'another host'}, ${hostsInWords(hosts, subject)} (${code}).`,
      why,
      fix: 'Correct the host name in the URL.',
    })
  return finding('certificate-wrong', 'error', origin, {
    seen: `The certificate is not accepted (${code}).`,
    why,
    fix: "The server's operator has to correct it.",
  })
}

/** Returns the names that count: those of `subjectAltName`; without any, that of the subject. */
function hostsInWords(hosts: readonly string[], subject: string): string {
  return firstOf((hosts.length > 0 ? hosts : [subject]).map((host) => `"${host}"`))
}

/** Returns five names, and how many there are beyond them. */
function firstOf(names: readonly string[]): string {
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`
}

function expiring({ origin, certificate: { until } }: Shown, now: number): Finding[] {
  const left = until.getTime() - now
  if (left >= soon) return []
  const days = Math.floor(left / day)
  const span = days < 1 ? 'less than a day' : `${days} ${days === 1 ? 'day' : 'days'}`
  return [
    finding('certificate-expires', 'warning', origin, {
      seen: `The certificate expires on ${dateOf(until)}, in ${span}.`,
      why: 'From then on, every request fails.',
      fix: "Tell the server's operator.",
    }),
  ]
}

function dateOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'an unknown day' : date.toISOString().slice(0, 10)
}
