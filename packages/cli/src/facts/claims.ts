import { fieldsIn } from '../metadata/public-response.ts'

/** Returns the claims of a signed JWT (RFC 7519 §4), which nobody has verified; `undefined` for another text. */
export function claimsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const [, claims = '', signature] = text.split('.')
  return signature ? fieldsIn(Buffer.from(claims, 'base64url').toString()) : undefined
}
