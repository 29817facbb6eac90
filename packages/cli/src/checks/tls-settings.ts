import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { reasonIn } from './reason.ts'

/** Finds TLS settings of the process, or of an agent or client of the application, that are not safe. */
export function checkTlsSettings({ env, tls }: Facts): Finding[] {
  return [
    ...(env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? [unverifiedProcess] : []),
    ...tls.flatMap(({ where, weakness, isUnverified }) => [
      ...(weakness === undefined ? [] : [tooLow(where, weakness)]),
      ...(isUnverified ? [unverified(where)] : []),
    ]),
  ]
}

const unverifiedProcess = finding('tls-unverified', 'error', 'this process', {
  seen: 'NODE_TLS_REJECT_UNAUTHORIZED is 0: any certificate is accepted.',
  why: 'Any machine on the way can read the client secret and every token.',
  fix: "Unset NODE_TLS_REJECT_UNAUTHORIZED. For an authority of your own, name its certificate's file in NODE_EXTRA_CA_CERTS.",
})

function unverified(where: string): Finding {
  return finding('tls-unverified', 'error', where, {
    seen: '`rejectUnauthorized` is false: any certificate is accepted.',
    why: 'Any machine on the way can read every token.',
    fix: 'Remove `rejectUnauthorized`. For an authority of your own, set `ca`, or name its file in NODE_EXTRA_CA_CERTS.',
  })
}

function tooLow(where: string, message: string): Finding {
  const [seen = ''] = reasonIn({ message }).split('; allowed: ')
  if (where === 'this process') return processFloor(seen)
  return finding('tls-floor', 'error', where, {
    seen: `${seen}.`,
    why: 'A token could travel over a broken TLS version, so calls with it are refused.',
    fix: "Remove this setting, or set `minVersion: 'TLSv1.2'`.",
  })
}

/** Returns the finding of a process that allows TLS below 1.2. */
export function processFloor(seen: string): Finding {
  return finding('tls-floor', 'error', 'this process', {
    seen,
    why: 'A secret could travel over a broken TLS version, so nothing is sent.',
    fix: 'Start Node without --tls-min-v1.0 and --tls-min-v1.1, also in NODE_OPTIONS.',
  })
}
