import { jwtVerify, type CryptoKey } from 'jose'

import { BoundedMap } from '../bounded-map.ts'

export interface JwtReaderOptions {
  publicKey: CryptoKey
  algorithm: string
  issuer: string
  /** Any, if it is `undefined`. */
  audience: string | undefined
}

/** How many checked tokens are kept. A forgotten one is checked again. */
const rememberedTokens = 1_000

/**
 * Makes a reader of JWT access tokens (RFC 9068). It returns the `jti` of a token with the issuer's signature, and
 * `undefined` for any other text. It does not check whether the token has expired.
 */
export function createJwtReader({
  publicKey,
  algorithm,
  issuer,
  audience,
}: JwtReaderOptions): (token: string) => Promise<string | undefined> {
  // a valid signature stays valid, and checking it costs more than the rest of a call
  const known = new BoundedMap<string>(rememberedTokens)

  return async (token: string): Promise<string | undefined> => {
    const jti = known.get(token)
    if (jti !== undefined) return jti
    // an opaque token, which jwtVerify() refuses slowly
    if (token.split('.', 4).length !== 3) return undefined
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: [algorithm],
        ...(audience !== undefined && { audience }),
        issuer,
        requiredClaims: ['jti'],
        typ: 'at+jwt',
        // never expired here: the ledger knows the end of a token to the millisecond
        currentDate: new Date(0),
      })
      known.set(token, payload.jti!)
      return payload.jti
    } catch {
      return undefined
    }
  }
}
