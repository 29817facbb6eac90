import { expect, test } from 'vitest'
import {
  createTokenManager,
  generalIssuer,
  isTokenlaneError,
  oauthIssuer,
  type IssuerOptions,
} from '../index.ts'

const credentials = { clientId: 'client-1', clientSecret: 'secret-1' }
const tokenEndpoint = 'https://auth.example.com/token'

/** The error that these options of an issuer are refused with, as `code message`. */
function refused(issuer: unknown, options: object = {}): string {
  try {
    createTokenManager({ issuers: { partner: issuer as IssuerOptions }, apis: [], ...options })
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    if (/secret-1|BEGIN RSA/.test(error.message)) throw new Error('a secret', { cause: error })
    return `${error.code} ${error.message}`
  }
  return 'accepted'
}

test('everything that is wrong with an issuer is reported at once, by option path', () => {
  const message = refused(
    oauthIssuer({
      tokenEndpoint,
      issuer: 'https://auth.example.com',
      clientAuthentication: 'basic',
      parameters: { grant_type: 'password', audience: '' },
      credentials: { ...credentials, clientSecret: '' },
      secretLifetime: 0,
      scopes: 'a',
    } as never),
  )
  expect(message).toMatch(
    /^INVALID_OPTIONS Cannot create token manager: 7 options are invalid:\n- `issuers\.partner\.scopes` is not an option/,
  )
  for (const option of [
    '`issuers.partner.scopes` is not an option (did you mean `scope`?)',
    '`issuers.partner.tokenEndpoint` is given with `issuer`; allowed: one of the two',
    '`issuers.partner.clientAuthentication` is not a method of this issuer; allowed: client_secret_post, client_secret_basic',
    '`issuers.partner.parameters.grant_type` is a field that Tokenlane sets',
    '`issuers.partner.parameters.audience` is empty',
    '`issuers.partner.credentials.clientSecret` is empty',
    '`issuers.partner.secretLifetime` is 0',
  ])
    expect(message).toContain(option)
  expect(message.match(/Cannot create/g)).toHaveLength(1)
  expect(message.match(/troubleshoot/g)).toHaveLength(1)
})

test('a token endpoint beside the URL that it is made of is refused as the second of two', () => {
  const authUrl = 'https://auth.example.com'
  expect(refused({ ...generalIssuer({ authUrl, credentials }), tokenEndpoint })).toContain(
    '`issuers.partner.tokenEndpoint` is given with `authUrl`; allowed: one of the two',
  )
})

test.each(['undefined', 'null', '[object Object]', ' '])(
  'the text "%s", which an unset variable leaves, is no option that somebody chose',
  (text) => {
    const issuer = {
      tokenEndpoint,
      credentials: { clientId: text, clientSecret: text },
      scope: text,
      parameters: { audience: text },
      headers: { 'x-api-key': text },
    }
    for (const option of [
      'credentials.clientId',
      'credentials.clientSecret',
      'scope',
      'parameters.audience',
      'headers.x-api-key',
    ])
      expect(refused(oauthIssuer(issuer))).toContain(`\`issuers.partner.${option}\` is '${text}'; allowed: a`)
    expect(refused(oauthIssuer({ tokenEndpoint: text, credentials }))).toMatch(
      /`issuers\.partner\.tokenEndpoint` is not an absolute URL; allowed: an absolute https: URL/,
    )
  },
)

test('a URL object is asked for as a string', () => {
  for (const option of ['tokenEndpoint', 'issuer'])
    expect(refused(oauthIssuer({ [option]: new URL(tokenEndpoint), credentials } as never))).toContain(
      `\`issuers.partner.${option}\` is not an absolute URL in a string, but an object; allowed: an absolute https: URL`,
    )
})

test('the URL of metadata, which many consoles show, is no issuer', () => {
  const issuer = 'https://auth.example.com/.well-known/openid-configuration'
  expect(refused(oauthIssuer({ issuer, credentials }))).toMatch(
    /^INVALID_OPTIONS .*`issuers\.partner\.issuer` is the URL of metadata; allowed: a URL without \/\.well-known\/ \(see/,
  )
})

test('what is wrong with several issuers is reported at once', () => {
  const wrong = { ...credentials, clientId: '' }
  expect(() =>
    createTokenManager({
      issuers: {
        one: { tokenEndpoint, credentials: wrong },
        two: { tokenEndpoint, credentials: wrong },
      },
      apis: [],
    }),
  ).toThrow(/`issuers\.one\.credentials\.clientId`.*`issuers\.two\.credentials\.clientId`/s)
})

const rsa = '-----BEGIN RSA PRIVATE KEY-----\nsecret-1\n-----END RSA PRIVATE KEY-----'
const pem = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0LTE=\n-----END PRIVATE KEY-----'

test.each<[string, object, string]>([
  [
    'a secret for a signed assertion',
    { credentials, clientAuthentication: 'private_key_jwt' },
    'credentials.clientSecret` is not an option',
  ],
  [
    'a key that is not PKCS#8',
    { credentials: { clientId: 'a', privateKey: rsa }, clientAuthentication: 'private_key_jwt' },
    'openssl pkcs8 -topk8',
  ],
  [
    'a public key',
    {
      credentials: { clientId: 'a', privateKey: { kty: 'EC', x: 'a' } },
      clientAuthentication: 'private_key_jwt',
    },
    'credentials.privateKey` is an object',
  ],
  [
    'an algorithm with a shared secret',
    {
      credentials: { clientId: 'a', privateKey: pem, algorithm: 'HS256' },
      clientAuthentication: 'private_key_jwt',
    },
    'allowed: RS256',
  ],
  [
    'a key beside a secret',
    { credentials: { ...credentials, privateKey: pem } },
    'credentials.privateKey` is given with `clientSecret`; allowed: one of the two',
  ],
  [
    'a key for a secret in the header alone',
    {
      credentials: [credentials, { clientId: 'a', privateKey: rsa }],
      clientAuthentication: 'client_secret_basic',
    },
    'credentials[1].privateKey` is a string in another format',
  ],
  [
    'text in the place of an assertion function',
    { credentials: { clientId: 'a', assertion: 'secret-1' } },
    'credentials.assertion` is a string; allowed: a function, such as fileAssertion(path)',
  ],
  [
    'a type of assertions that cannot be one',
    { credentials: { clientId: 'a', assertion: () => '', assertionType: 'jwt bearer' } },
    "credentials.assertionType` is not an assertion type; allowed: 'jwt-bearer', another name",
  ],
  [
    'a key without its certificate',
    { credentials: { clientId: 'a', privateKey: pem }, clientAuthentication: 'tls_client_auth' },
    'credentials.certificate` is missing',
  ],
  [
    'a scope among the parameters',
    { credentials, parameters: { scope: 'a' } },
    'parameters.scope` is a field that Tokenlane sets',
  ],
  ...[new Headers({ 'x-key': 'a' }), new Map([['x-key', 'a']]), new URLSearchParams('a=b')].map(
    (headers): [string, object, string] => [
      `${Object.prototype.toString.call(headers)} as headers, of which no field would be sent,`,
      { credentials, headers },
      'headers` is an object that is iterated; allowed: an object with properties',
    ],
  ),
  [
    'the parameters of a form',
    { credentials, parameters: new URLSearchParams('audience=a') },
    'parameters` is an object that is iterated',
  ],
  [
    'a header that is given twice',
    { credentials, headers: { 'X-Key': 'a', 'x-key': 'b' } },
    'headers.x-key` is given twice',
  ],
  [
    'a header that no request can have',
    { credentials, headers: { Expect: '100-continue' } },
    'headers.Expect` is a header that cannot be sent',
  ],
  [
    'an empty value in a repeated parameter',
    { credentials, parameters: { resource: ['a', ''] } },
    'parameters.resource` is empty',
  ],
])('%s is refused', (_what, options, reason) => {
  expect(refused(oauthIssuer({ tokenEndpoint, ...options } as IssuerOptions))).toContain(reason)
})

test.each([
  [
    { issuer: 'https://auth.example.com' },
    '`issuers.partner.issuer` is an option only `oauthIssuer` supports; allowed: oauthIssuer({ issuer, ... }), or `tokenEndpoint`',
  ],
  [
    { tokenEndpoint, clientAuthentication: 'client_secret_basic' },
    '`issuers.partner.clientAuthentication` is not a method of this issuer; allowed: client_secret_post, or an oauthIssuer({ ... })',
  ],
])('a plain object with %o is refused with the way out', (options, reason) => {
  expect(refused({ ...options, credentials })).toContain(reason)
  expect(refused(oauthIssuer({ ...options, credentials } as IssuerOptions))).toBe('accepted')
  // a tenant's options are merged like this
  expect(refused({ ...oauthIssuer({ ...options, credentials } as IssuerOptions), maxWait: 1 })).toBe(
    'accepted',
  )
})
