import { fieldsIn } from '../metadata/public-response.ts'

/** Returns the claims of a signed JWT (RFC 7519 §4), which nobody has verified; `undefined` for another text. */
export function claimsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const [, claims = '', signature] = text.split('.')
  return signature ? fieldsIn(Buffer.from(claims, 'base64url').toString()) : undefined
}

/** Returns the audiences of a JWT access token (RFC 9068 §2.2); `undefined` for any other token. */
export function audiencesOf(token: string): readonly string[] | undefined {
  const audiences = [claimsOf(token)?.['aud']].flat().filter((one): one is string => typeof one === 'string')
  return audiences.length === 0 ? undefined : audiences
}
