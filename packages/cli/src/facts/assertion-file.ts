import { readFileSync, statSync } from 'node:fs'

import { textIn } from '../metadata/public-response.ts'
import { claimsOf } from './claims.ts'

export interface AssertionFile {
  readonly path: string
  /** Whether other users of this machine may read it. */
  readonly isReadableByAll: boolean
  readonly replacedAt: Date
  readonly expiresAt?: Date
  /** Who signed it (`iss`) and for whom (`sub`); empty where it does not say. */
  readonly issuer: string
  readonly subject: string
}

/** Returns what is known of the file; `undefined` if it cannot be read, as the token request has found, too. */
export function lookAtAssertionFile(path: string | undefined): AssertionFile | undefined {
  if (path === undefined) return undefined
  try {
    const { mode, mtime } = statSync(path)
    const { iss, sub, exp } = claimsOf(readFileSync(path, 'utf8').trim()) ?? {}
    return {
      path,
      // the kubelet lets every user of the pod read it: that is a container, whose users are the application's
      isReadableByAll: (mode & 0o004) !== 0 && !path.startsWith('/var/run/secrets/'),
      replacedAt: mtime,
      ...(typeof exp === 'number' && { expiresAt: new Date(exp * 1_000) }),
      issuer: textIn(iss),
      subject: textIn(sub),
    }
  } catch {
    return undefined
  }
}
