import { type Check, table } from './finding.ts'
import { reasonIn } from '../failure-code.ts'
import { sentence } from './words.ts'

/** What core says of a process that allows TLS below 1.2. */
export const processFloor: RegExp = /this process allows TLS/

interface Setting {
  readonly where: string
  readonly isProcess: boolean
  /** Why TLS could be below 1.2; `undefined` for a setting that accepts any certificate. */
  readonly weakness?: string
}

export const checkTlsSettings: Check = table({
  cases: ({ tls, refused }): Setting[] => [
    // an application that is refused is not looked at
    ...refused.flatMap((error) => (processFloor.test(reasonIn(error)) ? processWith(reasonIn(error)) : [])),
    ...tls.flatMap(({ where, weakness: message, isUnverified }) => {
      const isProcess = where === 'this process'
      const [weakness = ''] = message === undefined ? [] : reasonIn({ message }).split('; allowed: ')
      return [
        ...(message === undefined ? [] : [{ where, isProcess, weakness }]),
        ...(isUnverified ? [{ where, isProcess }] : []),
      ]
    }),
  ],
  subject: ({ where }) => where,
  rows: [
    {
      id: 'tls-floor',
      when: ({ weakness, isProcess }) => weakness !== undefined && isProcess,
      seen: ({ weakness = '' }) => sentence(weakness),
      why: 'A secret could travel over a broken TLS version, so nothing is sent.',
      fix: 'Start Node without --tls-min-v1.0 and --tls-min-v1.1; check NODE_OPTIONS too.',
    },
    {
      id: 'tls-floor',
      when: ({ weakness }) => weakness !== undefined,
      seen: ({ weakness }) => `${weakness}.`,
      why: 'A token could travel over a broken TLS version, so calls with this setting are refused.',
      fix: "Remove this setting, or set `minVersion: 'TLSv1.2'`.",
    },
    {
      id: 'tls-unverified',
      seen: ({ isProcess }) =>
        `${isProcess ? 'NODE_TLS_REJECT_UNAUTHORIZED is 0' : '`rejectUnauthorized` is false'}: any certificate is accepted.`,
      why: ({ isProcess }) =>
        `Any machine between this one and the server can read ${isProcess ? 'the client secret and ' : ''}every token.`,
      fix: ({ isProcess }) =>
        `Remove this setting. For your own CA, set NODE_EXTRA_CA_CERTS to the path of its certificate and restart${isProcess ? '' : ', or set `ca`'}.`,
    },
  ],
})

function processWith(reason: string): Setting[] {
  const [weakness = ''] = reason.split(/; allowed: | \(read by /)
  return [{ where: 'this process', isProcess: true, weakness }]
}
