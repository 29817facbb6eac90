import { isRecord } from '../options/check.ts'

/** What can be read of a JWT without a key (RFC 7519 §4.1). Its signature is not verified. */
interface JwtClaims {
  readonly aud: readonly string[]
  /** In epoch milliseconds. */
  readonly expiresAt: number | undefined
}

/** Returns the claims of a signed JWT; `'encrypted'` for one that only the server reads, `undefined` for another text. */
export function readJwt(text: string): JwtClaims | 'encrypted' | undefined {
  const parts = text.split('.')
  if (objectIn(parts[0]) === undefined) return undefined
  // RFC 7516 §7.1
  if (parts.length === 5) return 'encrypted'
  const claims = parts.length === 3 ? objectIn(parts[1]) : undefined
  if (claims === undefined) return undefined
  const { aud, exp } = claims
  return {
    aud: [aud].flat().filter((one): one is string => typeof one === 'string'),
    expiresAt: typeof exp === 'number' && Number.isFinite(exp) ? exp * 1_000 : undefined,
  }
}

/** Returns the JSON object in a part of a JWT. */
function objectIn(part = ''): Readonly<Record<string, unknown>> | undefined {
  if (!/^[\w-]+$/.test(part)) return undefined
  try {
    const binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isRecord(value) && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
