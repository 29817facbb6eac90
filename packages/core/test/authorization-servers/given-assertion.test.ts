import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { createTokenManager, oauthIssuer, type ClientCredentials } from '../../src/index.ts'
import { useOidcProvider } from './start.ts'

const server = useOidcProvider()
const clientId = 'from outside'
const grant = {
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
  client_id: clientId,
}

/** A key that stands for one in a KMS: it signs, and nothing else of it is known to the application. */
async function signer(keyId: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const sent: string[] = []
  return {
    sent,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: keyId, use: 'sig' }] },
    async assertion({ audience }: { readonly audience: string }): Promise<string> {
      const jti = crypto.randomUUID()
      sent.push(jti)
      return new SignJWT({ jti })
        .setProtectedHeader({ alg: 'ES256', kid: keyId })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('5 minutes')
        .sign(privateKey)
    },
  }
}

const managerOf = (credentials: ClientCredentials | ClientCredentials[]) =>
  createTokenManager({
    issuers: {
      server: oauthIssuer({
        issuer: server.issuer,
        parameters: { resource: 'https://api.example.com/reports' },
        credentials,
      }),
    },
    apis: [],
  })

test('oidc-provider takes assertions of a key outside of the application, each once', async () => {
  const { jwks, assertion, sent } = await signer('key-1')
  await server.register([{ ...grant, token_endpoint_auth_method: 'private_key_jwt', jwks }])
  for (let renewal = 0; renewal < 3; renewal += 1)
    await expect(managerOf({ clientId, assertion }).getToken('server')).resolves.toBeDefined()
  expect(new Set(sent).size).toBe(3)
})

test('oidc-provider refuses a key that it does not know, and the next client is tried', async () => {
  const { jwks, assertion } = await signer('key-1')
  await server.register([{ ...grant, token_endpoint_auth_method: 'private_key_jwt', jwks }])
  const unknown = { clientId, assertion: (await signer('key-1')).assertion }
  await expect(managerOf(unknown).getToken('server')).rejects.toMatchObject({
    code: 'TOKEN_REQUEST_REFUSED',
    oauthError: 'invalid_client',
  })
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const wrongKey = { clientId, privateKey, keyId: 'key-1' }
  await expect(managerOf([wrongKey, { clientId, assertion }]).getToken('server')).resolves.toBeDefined()
})

test('a running application moves from a secret to an assertion when oidc-provider drops the secret', async () => {
  const { jwks, assertion } = await signer('key-1')
  const secret = { clientId, clientSecret: 'a secret' }
  await server.register([
    { ...grant, client_secret: 'a secret', token_endpoint_auth_method: 'client_secret_post' },
  ])
  await expect(managerOf([secret, { clientId, assertion }]).getToken('server')).resolves.toBeDefined()
  await server.register([{ ...grant, token_endpoint_auth_method: 'private_key_jwt', jwks }])
  await expect(managerOf([secret, { clientId, assertion }]).getToken('server')).resolves.toBeDefined()
})
