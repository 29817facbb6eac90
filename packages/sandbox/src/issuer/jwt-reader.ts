import { jwtVerify, type CryptoKey } from 'jose'

export interface JwtReaderOptions {
  publicKey: CryptoKey
  algorithm: string
  issuer: string
  audience: string
}

/** They can be checked again. */
const rememberedTokens = 1_000

/**
 * Makes a reader of JWT access tokens (RFC 9068): it returns the `jti` of a token that carries the issuer's
 * signature, and `undefined` for anything else. Whether the token still lives is not its question.
 */
export function createJwtReader({
  publicKey,
  algorithm,
  issuer,
  audience,
}: JwtReaderOptions): (token: string) => Promise<string | undefined> {
  // a good signature stays good, and checking one costs more than all the rest of a call
  const known = new Map<string, string>()

  return async (token: string): Promise<string | undefined> => {
    const jti = known.get(token)
    if (jti !== undefined) return jti
    // an opaque token, which jwtVerify() would take long to refuse
    if (token.split('.', 4).length !== 3) return undefined
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: [algorithm],
        audience,
        issuer,
        requiredClaims: ['jti'],
        typ: 'at+jwt',
        // the ledger knows the end of a token to the millisecond, and says so as "expired"
        currentDate: new Date(0),
      })
      known.set(token, payload.jti!)
      const [oldest] = known.keys()
      if (known.size > rememberedTokens && oldest !== undefined) known.delete(oldest)
      return payload.jti
    } catch {
      return undefined
    }
  }
}
