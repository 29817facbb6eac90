// Long: needs Authlib, which is written in Python.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createTokenManager,
  oauthIssuer,
  type ClientCredentials,
  type TokenManager,
} from '../../src/index.ts'
import { fileAssertion } from '../../src/node.ts'
import { checkServers, type Registered } from './checks.ts'
import { startPython } from './own-process.ts'
import { useTlsServer } from './start.ts'

const [program, packages] = ['authlib-server.py', 'python3-authlib python3-flask']

checkServers({
  name: 'Authlib',
  // version 1.2 decodes nothing, 1.6 all but the `+` for a space
  decodesBasic: undefined,
  knowsClients: true,
  refusal: 'invalid_client',
  issuerPath: '',
  assertions: { algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'], takesIssuer: false },
  revocation: { path: '/revoke', status: 401 },
  start: (registered, run) => startPython(program, packages, registered, run),
})

// Authlib reads the keys of another issuer over TLS: those of a sandbox's cluster.
describe('Authlib, with assertions of another issuer', () => {
  const clientId = 'reports'
  const subject = 'system:serviceaccount:shop:general'
  const trusts = { subject }
  const folder = mkdtempSync(join(tmpdir(), 'authlib-'))
  const caFile = join(folder, 'ca.pem')
  const stop = new AbortController()
  const stopAtExit = (): void => stop.abort()
  let listener: RequestListener
  let statuses: number[] = []
  const server = useTlsServer((request, response) => {
    if (request.url === '/token') response.once('finish', () => statuses.push(response.statusCode))
    listener(request, response)
  })
  let cluster: Sandbox
  beforeAll(async () => {
    process.once('exit', stopAtExit)
    cluster = await startSandbox({ caFile, issuers: { general: { workloadIdentity: true } } })
    const { AUTH_URL } = cluster.control.environment()
    const issuer = `${AUTH_URL}/cluster`
    Object.assign(trusts, { issuer, jwksUri: `${issuer}/openid/v1/jwks`, caFile })
    const registered: Registered & { trusts: object } = { clientId, secrets: ['first'], keys: [], trusts }
    listener = await startPython(program, packages, registered, { issuer: server.url, stopped: stop.signal })
  })
  afterAll(async () => {
    process.off('exit', stopAtExit)
    stop.abort()
    await cluster.close()
    rmSync(folder, { recursive: true })
  })

  function managerOf(credentials: ClientCredentials | ClientCredentials[]): TokenManager {
    statuses = []
    const tokenEndpoint = `${server.url}/token`
    return createTokenManager({ issuers: { server: oauthIssuer({ tokenEndpoint, credentials }) }, apis: [] })
  }
  const asked = (): Parameters<Sandbox['control']['makeAssertion']>[1] => ({
    audience: `${server.url}/token`,
  })
  /** A client whose assertion is in a file. */
  const ofFile = (assertion: string) => {
    const path = join(folder, randomUUID())
    writeFileSync(path, assertion)
    return { clientId, assertion: fileAssertion(path) }
  }

  test('a projected file gives a token to each process that reads it', async () => {
    const assertion = fileAssertion(cluster.control.projectAssertion('general', asked()))
    for (let start = 0; start < 2; start += 1) {
      const tokens = managerOf({ clientId, assertion })
      await expect(tokens.getToken('server')).resolves.toMatchObject({ issuer: 'server' })
      expect(statuses).toEqual([200])
    }
  })

  test('a key that was rotated away is refused, a secret beside it is tried, and the new key is found', async () => {
    const old = ofFile(cluster.control.makeAssertion('general', asked()))
    cluster.control.rotateClusterKeys('general')
    await expect(managerOf(old).getToken('server')).rejects.toMatchObject({
      code: 'TOKEN_REQUEST_REFUSED',
      oauthError: 'invalid_client',
    })
    await managerOf([old, { clientId, clientSecret: 'first' }]).getToken('server')
    expect(statuses.map((status) => status < 400)).toEqual([false, true])
    await managerOf(ofFile(cluster.control.makeAssertion('general', asked()))).getToken('server')
    expect(statuses).toEqual([200])
  })

  test('an assertion of another workload of the same cluster is refused', async () => {
    const client = ofFile(cluster.control.makeAssertion('general', asked()))
    trusts.subject = 'system:serviceaccount:shop:billing'
    await expect(managerOf(client).getToken('server')).rejects.toMatchObject({
      code: 'TOKEN_REQUEST_REFUSED',
      oauthError: 'invalid_client',
    })
    trusts.subject = subject
    await expect(managerOf(client).getToken('server')).resolves.toMatchObject({ issuer: 'server' })
  })
})
