import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { reasonIn } from '../reason.ts'

/** Finds TLS settings of the process, or of an agent or client of the application, that are not safe. */
export function checkTlsSettings({ tls }: Facts): Finding[] {
  return tls.flatMap(({ where, weakness, isUnverified }) => [
    ...(weakness === undefined ? [] : [tooLow(where, weakness)]),
    ...(isUnverified ? [unverified(where)] : []),
  ])
}

function unverified(where: string): Finding {
  const isProcess = where === 'this process'
  const setting = isProcess ? 'NODE_TLS_REJECT_UNAUTHORIZED is 0' : '`rejectUnauthorized` is false'
  return finding('tls-unverified', 'error', where, {
    seen: `${setting}: any certificate is accepted.`,
    why: `Any machine between this one and the server can read ${isProcess ? 'the client secret and ' : ''}every token.`,
    fix: `Remove this setting. For your own CA, set NODE_EXTRA_CA_CERTS to the path of its certificate and restart${isProcess ? '' : ', or set `ca`'}.`,
  })
}

function tooLow(where: string, message: string): Finding {
  const [seen = ''] = reasonIn({ message }).split('; allowed: ')
  if (where === 'this process') return processFloor(seen)
  return finding('tls-floor', 'error', where, {
    seen: `${seen}.`,
    why: 'A token could travel over a broken TLS version, so calls with this setting are refused.',
    fix: "Remove this setting, or set `minVersion: 'TLSv1.2'`.",
  })
}

/** Returns the finding of a process that allows TLS below 1.2. */
export function processFloor(seen: string): Finding {
  return finding('tls-floor', 'error', 'this process', {
    seen: `${seen.charAt(0).toUpperCase()}${seen.slice(1)}.`,
    why: 'A secret could travel over a broken TLS version, so nothing is sent.',
    fix: 'Start Node without --tls-min-v1.0 and --tls-min-v1.1; check NODE_OPTIONS too.',
  })
}
