import { expect, test } from 'vitest'
import { createTokenManager, generalIssuer, type CredentialsProvider } from '@tokenlane/core'
import { type AwsSecretsManager, awsCredentials } from './aws.ts'
import { type AzureSecretClient, azureCredentials } from './azure.ts'
import { type GoogleSecretManager, googleCredentials } from './google.ts'
import { vaultCredentials } from './vault.ts'

const created = new Date('2026-11-01T00:00:00Z')
const textOf = (clientSecret: string): string => JSON.stringify({ clientId: 'client-1', clientSecret })

/** The secrets that an issuer is asked with that takes only one, and what the manager knows of it then. */
async function askedWith(credentials: CredentialsProvider, accepted: string) {
  const secrets: unknown[] = []
  const tokens = createTokenManager({
    issuers: { general: generalIssuer({ authUrl: 'https://auth.example.com', credentials, maxWait: 300 }) },
    apis: [],
    async fetch(_url, init) {
      const secret = init?.body instanceof URLSearchParams ? init.body.get('client_secret') : undefined
      secrets.push(secret)
      return secret === accepted
        ? Response.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 60 })
        : Response.json({ error: 'invalid_client' }, { status: 401 })
    },
  })
  const outcome = await tokens.getToken('general').then(
    () => 'a token',
    (error: unknown) => String(error),
  )
  return { secrets, outcome, daysLeft: tokens.status().issuers['general']?.daysLeft }
}

/** A double of each manager's client, which holds these secrets, the newest first. */
const managers: Record<string, (secrets: readonly string[]) => CredentialsProvider> = {
  aws([current = '', pending]) {
    const client: AwsSecretsManager = {
      async getSecretValue({ SecretId, VersionStage: stage }, { abortSignal }) {
        abortSignal.throwIfAborted()
        const secret = stage === 'AWSCURRENT' ? current : pending
        if (SecretId !== 'general' || secret === undefined)
          throw Object.assign(new Error('secret-1'), { name: 'ResourceNotFoundException' })
        return { SecretString: textOf(secret), CreatedDate: created }
      },
    }
    return awsCredentials(client, 'general')
  },
  google(secrets) {
    const client: GoogleSecretManager = {
      listSecretVersions: async ({ parent, pageSize }) => [
        secrets.slice(0, pageSize).map((_, index) => ({
          name: `${parent}/versions/${index}`,
          createTime: { seconds: `${created.getTime() / 1_000}` },
        })),
      ],
      accessSecretVersion: async ({ name }) => [
        { payload: { data: Buffer.from(textOf(secrets[Number(name.split('/').at(-1))] ?? '')) } },
      ],
    }
    return googleCredentials(client, 'projects/shop/secrets/general')
  },
  azure(secrets) {
    const client: AzureSecretClient = {
      async *listPropertiesOfSecretVersions() {
        yield { version: 'off', enabled: false, createdOn: new Date() }
        for (const [index] of [...secrets.entries()].toReversed())
          yield { version: `${index}`, enabled: true, createdOn: new Date(created.getTime() - index) }
      },
      getSecret: async (_name, { version }) => ({ value: textOf(secrets[Number(version)] ?? '') }),
    }
    return azureCredentials(client, 'general')
  },
  vault(secrets) {
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const { searchParams, pathname } = new URL(url instanceof Request ? url.url : url)
      const isAllowed = new Headers(init?.headers).get('x-vault-token') === 'vault-token'
      if (!isAllowed || pathname !== '/v1/secret/data/shop/general') return new Response('', { status: 403 })
      const version = Number(searchParams.get('version')) || secrets.length
      const clientSecret = secrets[secrets.length - version]
      if (clientSecret === undefined) return new Response('', { status: 404 })
      const metadata = { version, created_time: created.toISOString() }
      return Response.json({ data: { data: { clientId: 'client-1', clientSecret }, metadata } })
    }
    const token = (): string => 'vault-token'
    return vaultCredentials({
      address: 'https://vault.example.com',
      mount: 'secret',
      path: 'shop/general',
      token,
      fetch,
    })
  },
}

const each = Object.entries(managers)

test.each(each)('%s: one secret is enough, and its age is known', async (_name, managerOf) => {
  const { secrets, outcome, daysLeft } = await askedWith(managerOf(['secret-1']), 'secret-1')
  expect({ secrets, outcome }).toEqual({ secrets: ['secret-1'], outcome: 'a token' })
  expect(daysLeft).toBeLessThanOrEqual(365)
})

test.each(each)(
  '%s: of two secrets the second is used while the issuer refuses the first',
  async (_name, managerOf) => {
    const { secrets, outcome } = await askedWith(managerOf(['secret-2', 'secret-1']), 'secret-1')
    expect({ secrets, outcome }).toEqual({ secrets: ['secret-2', 'secret-1'], outcome: 'a token' })
  },
)

test.each(each)('%s: a secret that cannot be read quotes nothing', async (_name, managerOf) => {
  const { secrets, outcome } = await askedWith(managerOf(['']), 'secret-1')
  expect(secrets).toEqual([])
  expect(outcome).toContain('no credentials for issuer "general"')
  expect(outcome).not.toContain('secret-1')
})

test('vault: a token that may not read the secret is reported by a code', async () => {
  const fetch = async (): Promise<Response> => new Response('', { status: 403 })
  const provider = vaultCredentials({
    address: 'https://vault.example.com',
    mount: 'a',
    path: 'b',
    token: () => '',
    fetch,
  })
  expect((await askedWith(provider, 'secret-1')).outcome).toContain(
    'the credentials function failed (EFORBIDDEN)',
  )
})
