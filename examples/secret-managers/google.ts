import type { CredentialsProvider } from '@tokenlane/core'
import { readClient } from './read-client.ts'

/** What is used of `SecretManagerServiceClient` from `@google-cloud/secret-manager`. */
export interface GoogleSecretManager {
  listSecretVersions(
    request: { parent: string; filter: string; pageSize: number },
    options: { timeout: number; autoPaginate: false },
  ): Promise<[{ name?: string | null; createTime?: { seconds?: unknown } | null }[], ...unknown[]]>
  accessSecretVersion(
    request: { name: string },
    options: { timeout: number },
  ): Promise<[{ payload?: { data?: Uint8Array | string | null } | null }, ...unknown[]]>
}

/**
 * Reads the two newest versions of a secret that are enabled: the newest first, and the one before for as long as the
 * issuer takes it.
 *
 * @param secret such as `projects/shop/secrets/general`.
 */
export function googleCredentials(client: GoogleSecretManager, secret: string): CredentialsProvider {
  // this client knows no signals; a token request may take 5 s
  const options = { timeout: 2_000 }
  return async () => {
    const list = { parent: secret, filter: 'state:ENABLED', pageSize: 2 }
    const [versions] = await client.listSecretVersions(list, { ...options, autoPaginate: false })
    return Promise.all(
      versions.slice(0, 2).map(async ({ name, createTime }) => {
        const [{ payload }] = await client.accessSecretVersion({ name: name ?? '' }, options)
        const seconds = Number(createTime?.seconds)
        const text = Buffer.from(payload?.data ?? '').toString()
        return readClient(text, Number.isFinite(seconds) ? new Date(seconds * 1_000) : undefined)
      }),
    )
  }
}
