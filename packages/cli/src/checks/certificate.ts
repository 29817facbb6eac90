import { type Check, groupsBy, listed, row, table, together } from './finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { CertificateFacts, ServerFacts } from '../facts/server.ts'
import { isRefusedForClock, ownClockOffset } from './clock.ts'
import { originsOf } from './connection.ts'
import { dateOf, day, days } from './words.ts'

/** A certificate with less time left than this is reported, in milliseconds. */
const soon = 14 * day

type Shown = ServerFacts & { readonly certificate: CertificateFacts }

function shownIn({ servers }: Facts): Shown[] {
  return servers.filter((server): server is Shown => server.certificate !== undefined)
}

function unknownIn(facts: Facts): Shown[] {
  return shownIn(facts).filter(({ certificateFailure: code }) => isUnknownAuthority(code))
}

/** Finds a file of authorities that Node ignores: that explains every authority that is not known. */
const checkAuthoritiesFile: Check = row({
  cases(facts) {
    const { extraAuthorities: extra, shared } = facts
    if (extra?.fault === undefined) return []
    const unknown = unknownIn(facts)
    const isNeeded =
      unknown.length > 0 || shared.some(({ connection }) => isUnknownAuthority(connection?.outcome))
    return [{ ...extra, unknown: listed(originsOf(unknown)), isNeeded }]
  },
  subject: ({ file }) => file,
  id: 'ca-file-ignored',
  severity: ({ isNeeded }) => (isNeeded ? 'error' : 'warning'),
  seen: ({ fault, count, unknown }) =>
    `NODE_EXTRA_CA_CERTS names this file, which ${fault}: Node has loaded ${count === 0 ? 'nothing' : `${count} certificate${count === 1 ? '' : 's'}`} from it.${unknown && ` The certificate of ${unknown} is refused.`}`,
  why: 'Its CAs are not trusted, so every request to a server whose certificate they signed fails before anything is sent.',
  fix: 'Correct the path, or the file: each certificate in PEM form (`openssl x509 -inform der` converts another), whole, and a line break after each. If all that is right, the variable was set after Node had started: set it before, not in a module. Then restart.',
})

const checkUnknownAuthorities: Check = row({
  cases: (facts) =>
    facts.extraAuthorities?.fault === undefined
      ? byAuthority(unknownIn(facts)).map((group) => {
          const [{ certificate, certificateFailure: code }] = group as readonly [Shown]
          const hosts = new Set(group.map(({ origin }) => new URL(origin).hostname))
          const origins = listed(originsOf(group))
          return { authority: certificate.authority, code, origins, hosts, extra: facts.extraAuthorities }
        })
      : [],
  subject: ({ authority }) => `authority "${authority}"`,
  id: 'authority-unknown',
  // one unknown authority signs for several hosts: a proxy on the way probably issues the certificates
  seen: ({ origins, code, hosts }) =>
    `It signed the certificate of ${origins}, but this process does not trust it (${code}).${hosts.size > 1 ? ' One CA for several hosts is probably a TLS-intercepting proxy.' : ''}`,
  why: 'Every request to these servers fails before anything is sent.',
  // troubleshoot.md says the same by code
  fix({ code, extra }) {
    const what =
      code === 'DEPTH_ZERO_SELF_SIGNED_CERT'
        ? "Get the server's certificate, which no CA signed, from its operator"
        : "Get the CA's certificate from your network's operator"
    const also =
      code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
        ? " If the CA is a public one, or is in that file already, the server does not send its intermediate certificate: tell the server's operator."
        : ''
    return `${what}, ${
      extra === undefined
        ? 'set NODE_EXTRA_CA_CERTS to its path and restart.'
        : `add it to ${extra.file} (the file in NODE_EXTRA_CA_CERTS, which has ${extra.count === 1 ? 'one other' : `${extra.count} others`}) and restart.`
    }${also}`
  },
})

/** Finds certificates that are not accepted, or end soon. One that only this machine's clock refuses is left to that finding. */
const checkAccepted: Check = table({
  cases: (facts) =>
    shownIn(facts).flatMap((server) => {
      const { origin, roles, certificate, certificateFailure: code } = server
      if (isUnknownAuthority(code) || isRefusedForClock(server, facts)) return []
      const left = certificate.until.getTime() - (facts.now.getTime() - ownClockOffset(facts))
      return code === undefined && left >= soon ? [] : [{ origin, roles, ...certificate, code, left }]
    }),
  subject: ({ origin }) => origin,
  why: ({ roles }) => `Every request to ${roles.join(', ')} fails before anything is sent.`,
  rows: [
    {
      id: 'certificate-expires',
      severity: 'warning',
      when: ({ code }) => code === undefined,
      seen({ until, left }) {
        const span = left < day ? 'less than a day' : days(left / day)
        return `The certificate expires on ${dateOf(until)}, in ${span}.`
      },
      why: 'From then on, every request fails.',
      fix: "Tell the server's operator.",
    },
    {
      id: 'certificate-expired',
      when: ({ code }) => code === 'CERT_HAS_EXPIRED',
      seen: (one) => `The certificate expired on ${dateOf(one.until)}. ${validity(one)}`,
      fix: "Check this machine's clock. If it is right, the server's operator has to renew the certificate.",
    },
    {
      id: 'certificate-not-yet-valid',
      when: ({ code }) => code === 'CERT_NOT_YET_VALID',
      seen: (one) => `The certificate is not valid until ${dateOf(one.from)}. ${validity(one)}`,
      fix: "Check this machine's clock. If it is right, the server's operator has to install a valid certificate.",
    },
    {
      id: 'certificate-host',
      when: ({ code }) => code === 'ERR_TLS_CERT_ALTNAME_INVALID',
      seen: ({ hosts = [], subject, code }) =>
        `The certificate is for ${hosts.length > 1 ? 'other hosts' : 'another host'}, ${hostsInWords(hosts, subject)} (${code}).`,
      fix: 'Correct the host name in the URL.',
    },
    {
      id: 'certificate-wrong',
      seen: ({ code }) => `The certificate is not accepted (${code}).`,
      fix: "The server's operator has to correct it.",
    },
  ],
})

function validity({ from, until, code }: { from: Date; until: Date; code: string | undefined }): string {
  return `It is valid from ${dateOf(from)} to ${dateOf(until)} (${code}).`
}

const checkPrivateAuthorities: Check = row({
  cases(facts) {
    const accepted = shownIn(facts).filter(({ certificateFailure: code }) => code === undefined)
    const groups = byAuthority(accepted.filter(({ certificate }) => !certificate.isPublic))
    const signed = groups.map((group) => ({
      name: `"${group[0]?.certificate.authority}"`,
      origins: listed(originsOf(group)),
    }))
    return signed.length === 0 ? [] : [signed]
  },
  id: 'authority-private',
  severity: 'info',
  subject: (signed) => firstOf(signed.map(({ name }) => name)),
  seen: (signed) =>
    signed
      .map(
        ({ name, origins }) =>
          `${name} signed the certificate of ${origins}. Node's built-in list does not include this CA.`,
      )
      .join(' '),
  why: 'Expected for your own servers. A TLS-intercepting proxy looks the same.',
  fix: 'Nothing, if you know this CA.',
})

export const checkCertificates: Check = together(
  checkAuthoritiesFile,
  checkUnknownAuthorities,
  checkAccepted,
  checkPrivateAuthorities,
)

export function isUnknownAuthority(code: string | undefined): boolean {
  return /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED)/.test(code ?? '')
}

function byAuthority(servers: readonly Shown[]): readonly (readonly Shown[])[] {
  return groupsBy(servers, ({ certificate }) => certificate.authority)
}

/** Returns the names that count: those of `subjectAltName`; without any, that of the subject. */
function hostsInWords(hosts: readonly string[], subject: string): string {
  return firstOf((hosts.length > 0 ? hosts : [subject]).map((host) => `"${host}"`))
}

/** Returns five names, and how many there are beyond them. */
function firstOf(names: readonly string[]): string {
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`
}
