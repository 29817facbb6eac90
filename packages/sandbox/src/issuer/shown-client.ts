import { decodeJwt, decodeProtectedHeader } from 'jose'

import type { ClientAuthentication } from './issuer-settings.ts'

/** What a token request shows of its client, as its issuer wants it. */
interface ShownClient {
  id: string | undefined
  hasProof: boolean
  /** The secret, or the id of the key; an assertion may name no key. */
  proof: string | undefined
}

export type Form = Readonly<Partial<Record<string, string>>>

/** How messages name the credentials of a method, and how they are read from a token request. */
export interface ProofReader {
  /** Where they belong. */
  place: string
  field: string
  kind: 'secret' | 'key'
  read(form: Form, authorization: string): ShownClient
}

export const proofReaders: Readonly<Record<ClientAuthentication, ProofReader>> = {
  client_secret_post: {
    place: 'form',
    field: 'client_secret',
    kind: 'secret',
    read: ({ client_id: id, client_secret: proof }) => ({ id, hasProof: proof !== undefined, proof }),
  },
  client_secret_basic: {
    place: 'Authorization header',
    field: 'client_secret',
    kind: 'secret',
    read(_, authorization) {
      const text = Buffer.from(authorization.replace(/^basic +/i, ''), 'base64').toString()
      const [, id, proof] = /^([^:]+):(.+)$/s.exec(text) ?? []
      return { id: decoded(id), hasProof: proof !== undefined, proof: decoded(proof) }
    },
  },
  private_key_jwt: {
    place: 'form',
    field: 'client_assertion',
    kind: 'key',
    read({ client_id: id, client_assertion: assertion }) {
      const { sub, kid } = claimsOf(assertion)
      return { id: id ?? sub, hasProof: assertion !== undefined, proof: kid }
    },
  },
}

/** Decodes half of an `Authorization` header, which is encoded as in a form (RFC 6749 §2.3.1). */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function claimsOf(assertion = ''): { sub?: string; kid?: string } {
  try {
    const { sub } = decodeJwt(assertion)
    const { kid } = decodeProtectedHeader(assertion)
    return { ...(sub !== undefined && { sub }), ...(kid !== undefined && { kid }) }
  } catch {
    return {}
  }
}
