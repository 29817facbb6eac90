import type { Credentials, CredentialsProvider } from '@tokenlane/core'

/** Where a secret lies, and who reads it. */
export interface VaultSecret {
  /** Such as `https://vault.example.com:8200`. */
  readonly address: string
  /** Path of the KV version 2 engine, such as `secret`. */
  readonly mount: string
  /** Path of the secret, such as `shop/general`; its data has `clientId` and `clientSecret`. */
  readonly path: string
  /** Returns a token of Vault that may read the secret, as your way to log in has it. */
  readonly token: () => string | Promise<string>
  /** Makes the requests. Default: the runtime's. */
  readonly fetch?: typeof globalThis.fetch
}

interface Answer {
  readonly data: {
    readonly data: Credentials
    readonly metadata: { readonly version: number; readonly created_time: string }
  }
}

/** Reads the newest version of a secret, and the one before for as long as the issuer takes it. */
export function vaultCredentials(secret: VaultSecret): CredentialsProvider {
  const { address, mount, path, token, fetch = globalThis.fetch } = secret
  return async ({ signal }) => {
    const read = async (version: number): Promise<Answer['data'] | undefined> => {
      const url = `${address}/v1/${mount}/data/${path}?version=${version}`
      const response = await fetch(url, { headers: { 'x-vault-token': await token() }, signal })
      // a version that was deleted or destroyed
      if (response.status === 404) return undefined
      if (!response.ok)
        throw Object.assign(new Error('Vault refused'), { code: `E${statusWord(response.status)}` })
      const { data } = (await response.json()) as Answer
      return data
    }
    // 0 is the newest
    const newest = await read(0)
    if (newest === undefined) return []
    const before = newest.metadata.version > 1 ? await read(newest.metadata.version - 1) : undefined
    return [newest, before].flatMap((version) => (version === undefined ? [] : [clientIn(version)]))
  }
}

/** Core quotes an error's `code`, if it looks like one, and nothing else. */
function statusWord(status: number): string {
  return status === 403 ? 'FORBIDDEN' : 'UNAVAILABLE'
}

function clientIn({ data, metadata }: Answer['data']): Credentials {
  const { clientId, clientSecret } = data
  return { clientId, clientSecret, secretIssuedAt: new Date(metadata.created_time) }
}
