import type { ClientAuthentication } from '../metadata/authorization-server.ts'

export interface Setup {
  /** Name of the issuer, in letters, digits and `_`. */
  readonly name: string
  /** What the authorization server calls itself, if it says so. */
  readonly issuer: string | undefined
  readonly tokenEndpoint: string
  readonly clientAuthentication: ClientAuthentication
  readonly scope: string
  /** The `resource` of the token requests (RFC 8707). */
  readonly resource: string | undefined
  readonly baseUrl: string
  /** Whether `http:` is used, which is allowed on this machine alone. */
  readonly insecureLoopback: boolean
}

const variables: Readonly<Record<ClientAuthentication, readonly string[]>> = {
  client_secret_basic: ['CLIENT_ID', 'CLIENT_SECRET'],
  client_secret_post: ['CLIENT_ID', 'CLIENT_SECRET'],
  private_key_jwt: ['CLIENT_ID', 'PRIVATE_KEY'],
  tls_client_auth: ['CLIENT_ID', 'CERTIFICATE', 'PRIVATE_KEY'],
}

export function bootstrapText(setup: Setup): string {
  const { name, issuer, tokenEndpoint, clientAuthentication, scope, resource, baseUrl } = setup
  const lines = [
    `tokenEndpoint: ${quoted(tokenEndpoint)},`,
    `clientAuthentication: ${quoted(clientAuthentication)},`,
    ...(clientAuthentication === 'private_key_jwt' && issuer !== undefined
      ? [`assertionAudience: ${quoted(issuer)},`]
      : []),
    `credentials: envCredentials(${quoted(name.toUpperCase())}),`,
    ...(scope === '' ? [] : [`scope: ${quoted(scope)},`]),
    ...(resource === undefined ? [] : [`parameters: { resource: ${quoted(resource)} },`]),
    ...(setup.insecureLoopback ? ['allowInsecureLoopback: true,'] : []),
  ]
  return `// tokens.ts
import { createTokenManager, envCredentials, oauthIssuer } from '@tokenlane/core'

export const tokens = createTokenManager({
  issuers: {
    ${name}: oauthIssuer({
${lines.map((line) => `      ${line}\n`).join('')}    }),
  },
  apis: [{ baseUrl: ${quoted(baseUrl)}, issuer: ${quoted(name)} }],
})
`
}

export function environmentText({ name, issuer, tokenEndpoint, clientAuthentication }: Setup): string {
  const names = variables[clientAuthentication].map((field) => `${name.toUpperCase()}_${field}=\n`)
  return `# .env: the client registered at ${oneLine(issuer ?? tokenEndpoint)}\n${names.join('')}`
}

/** Returns a text as a string of TypeScript. What a server wrote cannot end it. */
function quoted(text: string): string {
  return `'${escaped(text)
    .replaceAll('\\"', '"')
    .replaceAll("'", String.raw`\'`)}'`
}

function oneLine(text: string): string {
  return escaped(text)
}

/** Returns a text with escapes for everything that is not printable ASCII. */
function escaped(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^\u0020-\u007E]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
