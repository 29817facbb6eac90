// Long: needs glewlwyd, which is written in C.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, vi } from 'vitest'
import { freePort } from '../../../../tools/testing/src/free-port.ts'
import { checkServers, lifetime } from './checks.ts'
import { forwarding, startProgram } from './own-process.ts'

const packages = 'glewlwyd dbconfig-sqlite3'
const folder = mkdtempSync(join(tmpdir(), 'glewlwyd-'))
afterAll(() => rmSync(folder, { recursive: true }))

checkServers({
  name: 'glewlwyd',
  decodesBasic: false,
  knowsClients: true,
  // 403 without a body
  refusal: undefined,
  scopeRefusal: 'scope_invalid',
  scope: 'read',
  tokenPath: '/api/oidc/token',
  issuerPath: '/api/oidc',
  assertions: { algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'], takesIssuer: false },
  revocation: { path: '/api/oidc/revoke', status: 401 },
  async start(registered, { issuer, stopped }) {
    const port = await freePort()
    const database = join(folder, 'glewlwyd.db')
    const tables = readFileSync('/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3', 'utf8')
    const connection = new DatabaseSync(database)
    connection.exec(tables)
    connection.close()
    const config = join(folder, 'glewlwyd.conf')
    writeFileSync(
      config,
      `
      port = ${port}
      bind_address = "127.0.0.1"
      external_url = "${new URL(issuer).origin}"
      api_prefix = "api"
      log_mode = "console"
      log_level = "INFO"
      session_key = "session"
      admin_scope = "g_admin"
      profile_scope = "g_profile"
      hash_algorithm = "SHA512"
      user_module_path = "/usr/lib/glewlwyd/user"
      client_module_path = "/usr/lib/glewlwyd/client"
      user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
      plugin_module_path = "/usr/lib/glewlwyd/plugin"
      database = { type = "sqlite3" path = "${database}" }
      `,
    )
    const ready = /Glewlwyd started/
    await startProgram(['glewlwyd', `--config-file=${config}`], { packages, ready, stopped })
    // it says so before it listens
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`))

    let cookie = ''
    /** Asks the API of the administrator, who has the password of every new installation. */
    const administer = async (method: string, path: string, body: object): Promise<Response> => {
      const response = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
        method,
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return response
    }
    const login = await administer('POST', 'auth/', { username: 'admin', password: 'password' })
    cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await administer('POST', 'mod/plugin/', {
      module: 'oidc',
      name: 'oidc',
      display_name: 'oidc',
      parameters: {
        iss: issuer,
        'jwt-type': 'ecdsa',
        'jwt-key-size': '256',
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        cert: publicKey.export({ type: 'spki', format: 'pem' }),
        'access-token-duration': lifetime,
        'refresh-token-duration': lifetime,
        'code-duration': lifetime,
        'refresh-token-rolling': true,
        'allow-non-oidc': true,
        'auth-type-client-enabled': true,
        'auth-type-code-enabled': false,
        'auth-type-token-enabled': false,
        'auth-type-implicit-enabled': false,
        'auth-type-none-enabled': false,
        'auth-type-password-enabled': false,
        'auth-type-refresh-enabled': false,
        'auth-type-device-enabled': false,
        'client-jwks-parameter': 'jwks',
        'request-parameter-allow': true,
        'request-maximum-exp': 3_600,
        'introspection-revocation-allowed': true,
        'introspection-revocation-allow-target-client': true,
      },
    })
    for (const name of ['read', 'write'])
      await administer('POST', 'scope/', {
        name,
        display_name: name,
        password_required: false,
        password_max_age: 0,
        scheme: {},
      })

    const known = new Set<string>()
    const forward = forwarding(port, registered, async () => {
      const { clientId, secrets, keys } = registered
      const client = {
        client_id: clientId,
        client_secret: secrets[0],
        confidential: true,
        enabled: true,
        scope: ['read', 'write'],
        authorization_type: ['client_credentials'],
        redirect_uri: ['https://localhost/'],
        token_endpoint_auth_method: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        ...(keys.length > 0 && { jwks: { keys } }),
      }
      if (known.has(clientId)) await administer('PUT', `client/${encodeURIComponent(clientId)}`, client)
      else await administer('POST', 'client/', client)
      known.add(clientId)
    })
    return (request, response) => {
      if (request.url !== '/records') return forward(request, response)
      const introspect = async (): Promise<void> => {
        const given = await fetch(`http://127.0.0.1:${port}/api/oidc/introspect`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa('reports:first')}` },
          body: new URLSearchParams({ token: request.headers.authorization?.split(' ')[1] ?? '' }),
        })
        const { active } = (await given.json()) as { active: boolean }
        response.writeHead(active ? 200 : 401).end()
      }
      void introspect()
    }
  },
})
