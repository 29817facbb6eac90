import { readFileSync, statSync } from 'node:fs'

import { fieldsIn, textIn } from '../metadata/public-response.ts'

/** A file with an assertion from outside, whose claims nobody has verified. */
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

/** Returns what the file says; `undefined` if it cannot be read, as the token request has found, too. */
export function lookAtAssertionFile(path: string | undefined): AssertionFile | undefined {
  if (path === undefined) return undefined
  try {
    const seen = statSync(path)
    // reading a pipe would wait for who writes to it
    if (!seen.isFile()) return undefined
    const { mode, mtime } = seen
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

/** Returns the claims of a signed JWT (RFC 7519 §4), which nobody has verified; `undefined` for another text. */
function claimsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const [, claims = '', signature] = text.split('.')
  return signature ? fieldsIn(Buffer.from(claims, 'base64url').toString()) : undefined
}

/** Returns the audiences of a JWT access token (RFC 9068 §2.2); `undefined` for any other token. */
export function audiencesOf(token: string): readonly string[] | undefined {
  const audiences = [claimsOf(token)?.['aud']].flat().filter((one): one is string => typeof one === 'string')
  return audiences.length === 0 ? undefined : audiences
}
