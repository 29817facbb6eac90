import type { CredentialsProvider } from '@tokenlane/core'
import { readClient } from './read-client.ts'

/** What is used of `SecretsManager` from `@aws-sdk/client-secrets-manager`. */
export interface AwsSecretsManager {
  getSecretValue(
    input: { SecretId: string; VersionStage: string },
    options: { abortSignal: AbortSignal },
  ): Promise<{ SecretString?: string | undefined; CreatedDate?: Date | undefined }>
}

/**
 * Reads the current version of a secret, and the pending one while a rotation is under way: whichever the issuer takes
 * is used.
 */
export function awsCredentials(client: AwsSecretsManager, secretId: string): CredentialsProvider {
  return async ({ signal }) => {
    const read = async (stage: string) => {
      const input = { SecretId: secretId, VersionStage: stage }
      const { SecretString: text, CreatedDate: created } = await client.getSecretValue(input, {
        abortSignal: signal,
      })
      return readClient(text, created)
    }
    const current = await read('AWSCURRENT')
    try {
      return [current, await read('AWSPENDING')]
    } catch (error) {
      // outside a rotation no version is pending
      if ((error as Error).name !== 'ResourceNotFoundException') throw error
      return [current]
    }
  }
}
