import type { Credentials } from '@tokenlane/core'

/**
 * Returns the credentials in a secret's JSON text: `{ "clientId": "…", "clientSecret": "…" }`.
 *
 * Core checks the fields, and quotes none of them. A text that is not JSON must not be quoted either.
 */
export function readClient(text: string | undefined, issuedAt: Date | undefined): Credentials {
  try {
    const { clientId, clientSecret } = JSON.parse(text ?? '') as Credentials
    return { clientId, clientSecret, ...(issuedAt && { secretIssuedAt: issuedAt }) }
  } catch {
    throw new Error('The secret is not JSON')
  }
}
