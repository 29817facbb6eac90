import type { CredentialsProvider } from '@tokenlane/core'
import { readClient } from './read-client.ts'

interface Version {
  readonly version?: string | undefined
  readonly enabled?: boolean | undefined
  readonly createdOn?: Date | undefined
}

/** What is used of `SecretClient` from `@azure/keyvault-secrets`. */
export interface AzureSecretClient {
  listPropertiesOfSecretVersions(name: string, options: { abortSignal: AbortSignal }): AsyncIterable<Version>
  getSecret(
    name: string,
    options: { version?: string | undefined; abortSignal: AbortSignal },
  ): Promise<{ value?: string | undefined }>
}

/**
 * Reads the two newest versions of a secret that are enabled: the newest first, and the one before for as long as the
 * issuer takes it.
 */
export function azureCredentials(client: AzureSecretClient, name: string): CredentialsProvider {
  return async ({ signal }) => {
    const versions: Version[] = []
    // in no order
    for await (const version of client.listPropertiesOfSecretVersions(name, { abortSignal: signal }))
      if (version.enabled === true) versions.push(version)
    const age = ({ createdOn }: Version): number => createdOn?.getTime() ?? 0
    const newest = versions.toSorted((a, b) => age(b) - age(a)).slice(0, 2)
    return Promise.all(
      newest.map(async ({ version, createdOn }) => {
        const { value } = await client.getSecret(name, { version, abortSignal: signal })
        return readClient(value, createdOn)
      }),
    )
  }
}
