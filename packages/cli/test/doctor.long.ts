// Long: a process for each test.
import { generateKeyPairSync, randomUUID, X509Certificate } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Diagnosis } from '../src/doctor/doctor.ts'
import { doctor, tokenlane, type Variables } from './support/run.ts'
import {
  certificate,
  closeServers,
  audienceServer,
  deadPort,
  plainServer,
  redisWithClock,
  redisWithTls,
  resourceServer,
  silentPort,
  testAuthority,
  tlsServer,
  tokenServer,
  tunnelProxy,
  undecodingServer,
} from './support/servers.ts'

// each test starts processes, on a machine that has other things to do

const anyIssuer = fileURLToPath(new URL('applications/any-issuer.ts', import.meta.url))
const ioredis = fileURLToPath(new URL('applications/ioredis.ts', import.meta.url))
const fleet = fileURLToPath(new URL('applications/fleet.ts', import.meta.url))
const clients = fileURLToPath(new URL('applications/clients.ts', import.meta.url))
const ownFetch = fileURLToPath(new URL('applications/own-fetch.ts', import.meta.url))
const application = fileURLToPath(new URL('applications/tokens.ts', import.meta.url))
const page = readFileSync(new URL('../../../docs/guide/doctor.md', import.meta.url), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
const caFile = join(folder, 'ca.pem')

const closers: (() => Promise<void>)[] = []
let sandbox: Sandbox
let redis: RedisServer
/** A set-up in which nothing is wrong. */
let good: Variables
beforeAll(async () => {
  const general = { limits: [{ quota: 500, window: 1_000 }], headers: ['ratelimit'] as const }
  sandbox = await startSandbox({ ratePolicies: { general } })
  redis = await startRedis()
  writeFileSync(caFile, `${sandbox.ca}\n${testAuthority}`)
  good = { ...sandbox.control.environment(), NODE_EXTRA_CA_CERTS: caFile }
})
afterAll(async () => {
  closeServers()
  await Promise.all([sandbox.close(), redis.close(), ...closers.map((close) => close())])
  rmSync(folder, { recursive: true })
})

/** What a set-up changes of the good one. */
interface Change {
  readonly env?: Variables
  readonly args?: readonly string[]
  /** A sandbox that this set-up alone has. */
  readonly own?: Sandbox
}

interface BrokenSetup {
  readonly name: string
  readonly id: string
  /** Breaks it. */
  readonly broken: () => Change | Promise<Change>
  /** What the text of the finding says, too. */
  readonly says?: RegExp
  /** What the fix that is named changes of the broken one. */
  readonly mended: (broken: Change) => Change | Promise<Change>
}

const noNext = { GENERAL_CLIENT_SECRET_NEXT: undefined }

/** Starts a sandbox of a set-up's own, and returns it with its environment. */
async function ownSandbox(): Promise<Sandbox & { env: Variables }> {
  const own = await startSandbox({ caFile: join(folder, `${randomUUID()}.pem`) })
  closers.push(() => own.close())
  return Object.assign(own, { env: own.control.environment() })
}

/** Starts a Redis with these settings, and returns its URL. */
async function redisWith(...settings: string[]): Promise<string> {
  const server = await startRedis(settings)
  closers.push(() => server.close())
  return server.url
}

/** Starts a Redis with a user that has these rights, and returns the user's URL. */
async function redisUserWith(...rights: string[]): Promise<string> {
  const byDefault = ['--user', 'default', 'on', 'nopass', '-@all', '+ping']
  const url = await redisWith(...byDefault, '--user', 'someone', 'on', '>password', ...rights)
  return url.replace('//', '//someone:password@')
}

const commands = '+@connection +@sortedset +@hash +eval +evalsha +time +get +set +del +pttl +pexpire'.split(
  ' ',
)

const fleetOn = (url: string): Change => ({ args: ['--module', fleet], env: { REDIS_URL: url } })

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
const privateKey = rsa.export({ type: 'pkcs8', format: 'pem' }).toString()
const pkcs1 = rsa.export({ type: 'pkcs1', format: 'pem' }).toString()
const bearer = { access_token: 'token-of-a-test', token_type: 'bearer', expires_in: 3_600 }
const noWeblink = {
  WEBLINK_AUTH_URL: undefined,
  WEBLINK_URL: undefined,
  WEBLINK_CLIENT_ID: undefined,
  WEBLINK_CLIENT_SECRET: undefined,
}
/** The general issuer alone, at another URL. */
const issuerAt = (authUrl: string): Change => ({
  env: { AUTH_URL: authUrl, ...noWeblink },
})
/** An application with one issuer at any place, which has its own variables. */
const anyIssuerAt = (TOKEN_ENDPOINT: string, env: Variables): Change => ({
  args: ['--module', anyIssuer],
  env: { TOKEN_ENDPOINT, ...env },
})
/** An application with this certificate, and an issuer that accepts those of the test's authority. */
async function withCertificate(
  { cert, key }: Awaited<ReturnType<typeof certificate>>,
  maxVersion: 'TLSv1.2' | 'TLSv1.3',
): Promise<Change> {
  const options = { ...(await certificate()), requestCert: true, ca: testAuthority, maxVersion }
  return anyIssuerAt(await tlsServer(tokenServer(200, bearer), options), {
    METHOD: 'tls_client_auth',
    GENERAL_CERTIFICATE: cert,
    GENERAL_PRIVATE_KEY: key,
    GENERAL_CLIENT_SECRET: undefined,
    ...noNext,
  })
}
/** Writes a file, and returns its path. */
const fileOf = (content: string | Uint8Array): string => {
  const path = join(folder, `${randomUUID()}.pem`)
  writeFileSync(path, content)
  return path
}
/** An API that has no rate limit headers, and whose quota is used up. */
async function limitedApi(): Promise<Change> {
  const url = await tlsServer(plainServer(429, '', { 'retry-after': '1' }))
  return {
    env: { API_URL: `${url}/`, QUOTA: '30' },
    args: ['--module', application, '--url', `${url}/records`],
  }
}
/** An API that responds to every call with this status and these headers. */
async function apiWith(status: number, headers: Readonly<Record<string, string>>): Promise<Change> {
  const url = await tlsServer(plainServer(status, '', headers))
  return { env: { API_URL: `${url}/` }, args: ['--url', `${url}/records`] }
}
const goodApi = (): Change => ({
  env: { API_URL: good['API_URL'] },
  args: ['--url', `${good['API_URL']}records`],
})
/** A client whose only proof is an assertion in a file, and what a test does to it. */
interface Workload extends Change {
  readonly own: Sandbox
  readonly env: Variables
  readonly file: string
}

/** Starts a sandbox that takes assertions of its cluster, and an application with this one and no secret. */
async function workload(
  assertion: Parameters<Sandbox['control']['makeAssertion']>[1] = {},
): Promise<Workload> {
  const own = await startSandbox({
    caFile: join(folder, `${randomUUID()}.pem`),
    issuers: { general: { workloadIdentity: true, metadata: true } },
  })
  closers.push(() => own.close())
  const file = fileOf(own.control.makeAssertion('general', assertion))
  chmodSync(file, 0o600)
  const { AUTH_URL: ISSUER, API_URL, NODE_EXTRA_CA_CERTS, GENERAL_CLIENT_ID } = own.control.environment()
  const secrets = { GENERAL_CLIENT_SECRET: undefined, GENERAL_CLIENT_SECRET_NEXT: undefined }
  const env = {
    ISSUER,
    API_URL,
    NODE_EXTRA_CA_CERTS,
    GENERAL_CLIENT_ID,
    GENERAL_ASSERTION_FILE: file,
    ...secrets,
  }
  return { own, env, file, args: ['--module', anyIssuer, '--url', `${API_URL}records`] }
}

/** Replaces the file's assertion by a right one. */
const renewed = ({ own, env }: Change): Change => {
  const file = env?.['GENERAL_ASSERTION_FILE'] ?? ''
  writeFileSync(file, own?.control.makeAssertion('general') ?? '', { mode: 0o600 })
  return {}
}

/** An API that has metadata, there or at the usual place, and an issuer that gives tokens for another one by default. */
async function otherAudience(place?: string): Promise<Change> {
  const issuer = await tlsServer(audienceServer('https://other.example.com'))
  const API_URL = `${await tlsServer(resourceServer(place))}/orders`
  return anyIssuerAt(`${issuer}/token`, { API_URL })
}
const rightIssuer = (): Change => ({ env: { AUTH_URL: good['AUTH_URL'] } })
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

const setups: readonly BrokenSetup[] = [
  {
    name: 'a wrong secret',
    id: 'wrong-secret',
    broken: () => ({ env: { GENERAL_CLIENT_SECRET: 'not-the-secret' } }),
    mended: () => ({ env: { GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'] } }),
    says: /into GENERAL_CLIENT_ID and GENERAL_CLIENT_SECRET\. /,
  },
  {
    name: 'a wrong secret in a module that obtains its tokens while it loads',
    id: 'wrong-secret',
    broken: () => ({
      args: ['--module', application],
      env: { GENERAL_CLIENT_SECRET: 'not-the-secret', WARM_UP: '1' },
    }),
    mended: () => ({ env: { GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'] } }),
  },
  {
    name: 'a secret in quotes',
    id: 'wrong-secret',
    broken: () => ({ env: { GENERAL_CLIENT_SECRET: `"${good['GENERAL_CLIENT_SECRET']}"` } }),
    mended: () => ({ env: { GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'] } }),
    // once
    says: /^(?!.*is in quotes.*is in quotes).*`clientSecret` is in quotes.*Remove the quotes around GENERAL_CLIENT_SECRET\./s,
  },
  {
    name: 'placeholders for both secrets',
    id: 'wrong-secret',
    broken: () => ({
      env: { GENERAL_CLIENT_SECRET: '${GENERAL_SECRET}', WEBLINK_CLIENT_SECRET: '<your-secret>' },
    }),
    mended: () => ({
      env: {
        GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'],
        WEBLINK_CLIENT_SECRET: good['WEBLINK_CLIENT_SECRET'],
      },
    }),
    says: /`clientSecret` looks like a placeholder\..*Replace the placeholder in GENERAL_CLIENT_SECRET with the real value\. Replace the placeholder in WEBLINK_CLIENT_SECRET/,
  },
  {
    name: "the two issuers' credentials swapped",
    id: 'credentials-exchanged',
    broken: () => ({
      env: {
        GENERAL_CLIENT_ID: good['WEBLINK_CLIENT_ID'],
        GENERAL_CLIENT_SECRET: good['WEBLINK_CLIENT_SECRET'],
        WEBLINK_CLIENT_ID: good['GENERAL_CLIENT_ID'],
        WEBLINK_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'],
      },
    }),
    mended: () => ({ env: good }),
  },
  {
    name: 'a missing variable',
    id: 'option-wrong',
    broken: () => ({ env: { GENERAL_CLIENT_SECRET: undefined } }),
    says: /Missing environment variable: GENERAL_CLIENT_SECRET\..* cannot start without it\./,
    mended: () => ({ env: { GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'] } }),
  },
  {
    name: 'a missing issuer URL',
    id: 'option-wrong',
    broken: () => ({ env: { AUTH_URL: undefined }, args: ['--url', `${good['API_URL']}records`] }),
    says: /Missing environment variable: AUTH_URL\./,
    mended: rightIssuer,
  },
  {
    name: 'a missing URL and secret of one issuer, and a missing URL of the other',
    id: 'option-wrong',
    broken: () => ({
      env: { AUTH_URL: undefined, GENERAL_CLIENT_SECRET: undefined, WEBLINK_AUTH_URL: undefined },
    }),
    says: /Missing environment variables: AUTH_URL, GENERAL_CLIENT_SECRET, WEBLINK_AUTH_URL\..* start without them\./,
    mended: () => ({ env: good }),
  },
  {
    name: 'a missing API URL',
    id: 'option-wrong',
    broken: () => ({ env: { API_URL: undefined }, args: ['--url', `${good['API_URL']}records`] }),
    says: /"severity":"warning".*Missing environment variable: API_URL\..* sent without a token/,
    mended: () => ({ env: { API_URL: good['API_URL'] } }),
  },
  {
    name: 'a URL without TLS',
    id: 'option-wrong',
    broken: () => ({ env: { API_URL: 'http://api.example.com/' } }),
    says: /unsafe for secrets and tokens\.".*Correct API_URL \(`apis\[0\]\.baseUrl`\): use https:\./,
    mended: () => ({ env: { API_URL: good['API_URL'] } }),
  },
  {
    name: 'a URL without TLS to this machine',
    id: 'option-wrong',
    broken: () => ({ env: { AUTH_URL: 'http://localhost:8080' } }),
    says: /Correct AUTH_URL \(`issuers\.general\.authUrl`\): use https:, or in a test set `allowInsecureLoopback: true` on its issuer\."/,
    mended: rightIssuer,
  },
  {
    name: "the other issuer's URL",
    id: 'wrong-path',
    broken: () => issuerAt(String(good['WEBLINK_AUTH_URL'])),
    mended: rightIssuer,
  },
  {
    name: "an API's URL as the issuer",
    id: 'not-an-issuer',
    broken: () => issuerAt(String(good['API_URL']).replace(/\/$/, '')),
    mended: rightIssuer,
  },
  {
    name: 'a port on which nothing listens',
    id: 'connection-refused',
    broken: async () => issuerAt(`https://127.0.0.1:${await deadPort()}`),
    mended: rightIssuer,
  },
  {
    name: 'a host unknown to DNS',
    id: 'host-unknown',
    broken: () => issuerAt('https://auth.invalid'),
    mended: rightIssuer,
  },
  {
    name: 'an authority that the process does not trust',
    id: 'authority-unknown',
    broken: () => ({ env: { NODE_EXTRA_CA_CERTS: undefined } }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
  },
  {
    name: 'a certificate that has expired',
    id: 'certificate-expired',
    broken: async () =>
      issuerAt(await tlsServer(tokenServer(200, bearer), await certificate({ from: -2, days: -1 }))),
    mended: rightIssuer,
  },
  {
    name: 'a certificate that expires in three days',
    id: 'certificate-expires',
    broken: async () => issuerAt(await tlsServer(tokenServer(200, bearer), await certificate({ days: 3 }))),
    mended: rightIssuer,
  },
  {
    name: 'a certificate for another host',
    id: 'certificate-host',
    broken: async () =>
      issuerAt(await tlsServer(tokenServer(200, bearer), await certificate({ host: 'other.example.com' }))),
    mended: rightIssuer,
    says: /for another host, \\"other\.example\.com\\" \(/,
  },
  {
    name: 'a server that offers at most TLS 1.1',
    id: 'tls-too-old',
    broken: async () =>
      issuerAt(
        await tlsServer(tokenServer(200, bearer), {
          ...(await certificate()),
          minVersion: 'TLSv1',
          maxVersion: 'TLSv1.1',
          ciphers: 'DEFAULT@SECLEVEL=0',
        }),
      ),
    mended: rightIssuer,
  },
  {
    name: 'a process that allows TLS 1.0',
    id: 'tls-floor',
    broken: () => ({ env: { NODE_OPTIONS: '--tls-min-v1.0' } }),
    mended: () => ({ env: { NODE_OPTIONS: undefined } }),
  },
  {
    name: 'a process that accepts any certificate',
    id: 'tls-unverified',
    broken: () => ({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }),
    mended: () => ({ env: { NODE_TLS_REJECT_UNAUTHORIZED: undefined } }),
  },
  {
    name: 'a proxy that Node does not use',
    id: 'proxy-unused',
    async broken() {
      const target = `127.0.0.1:${await deadPort()}`
      const proxy = await tunnelProxy({ targets: { [target]: new URL(String(good['AUTH_URL'])).host } })
      return { env: { ...issuerAt(`https://${target}`).env, HTTPS_PROXY: proxy } }
    },
    mended: () => ({ env: { NODE_USE_ENV_PROXY: '1' } }),
  },
  {
    name: 'a proxy without a scheme, for a host unknown to DNS',
    id: 'proxy-unused',
    async broken() {
      const issuer = await tlsServer(tokenServer(200, bearer), await certificate({ host: 'auth.invalid' }))
      const proxy = await tunnelProxy({ targets: { 'auth.invalid:443': new URL(issuer).host } })
      return { env: { ...issuerAt('https://auth.invalid').env, HTTPS_PROXY: proxy.replace('http://', '') } }
    },
    mended: ({ env }) => ({
      env: { HTTPS_PROXY: `http://${env?.['HTTPS_PROXY']}`, NODE_USE_ENV_PROXY: '1' },
    }),
    says: /Set HTTPS_PROXY to the same value with http:\/\/ in front .*NODE_USE_ENV_PROXY=1/,
  },
  {
    name: 'a proxy that is down',
    id: 'proxy-failed',
    broken: async () => ({
      env: { HTTPS_PROXY: `http://127.0.0.1:${await deadPort()}`, NODE_USE_ENV_PROXY: '1' },
    }),
    mended: () => ({ env: { NO_PROXY: '127.0.0.1' } }),
  },
  {
    name: 'a proxy that decrypts TLS',
    id: 'authority-unknown',
    async broken() {
      const opened = await tlsServer(tokenServer(200, bearer))
      const proxy = await tunnelProxy({
        targets: { [new URL(String(good['AUTH_URL'])).host]: new URL(opened).host },
      })
      const own = join(folder, 'sandbox.pem')
      writeFileSync(own, sandbox.ca)
      return { env: { HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: own } }
    },
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
  },
  {
    name: 'a firewall that responds with a page and status 403',
    id: 'firewall-page',
    broken: async () => issuerAt(await tlsServer(tokenServer(403, '<h1>Blocked</h1>'))),
    mended: rightIssuer,
  },
  {
    name: 'a firewall that responds with a page and status 200',
    id: 'firewall-page',
    broken: async () => issuerAt(await tlsServer(tokenServer(200, '<h1>Sign in</h1>'))),
    mended: rightIssuer,
  },
  ...[
    [408, plainServer(408, 'Try again', { 'retry-after': '3600' })] as const,
    [503, tokenServer(503, '<h1>Service Unavailable</h1>', { 'retry-after': '3600' })] as const,
  ].map(([status, server]): BrokenSetup => ({
    name: `an issuer that responds with status ${status}`,
    id: 'issuer-trouble',
    broken: async () => issuerAt(await tlsServer(server)),
    mended: rightIssuer,
    says: /Wait 60 minutes, as its `Retry-After` asks\. If the problem persists/,
  })),
  {
    name: 'an issuer that closes the connection without a response',
    id: 'issuer-trouble',
    broken: async () => issuerAt(await tlsServer(({ socket }) => socket.destroy())),
    mended: rightIssuer,
    says: /closed the connection before it responded \(UND_ERR_SOCKET\)/,
  },
  {
    name: 'an issuer that wants a client certificate (TLS 1.3)',
    id: 'issuer-trouble',
    broken: async () =>
      issuerAt(await tlsServer(tokenServer(200, bearer), { ...(await certificate()), requestCert: true })),
    mended: rightIssuer,
    says: /operator, and ask whether the issuer wants a client certificate \(`tls_client_auth`\)\./,
  },
  ...(['TLSv1.3', 'TLSv1.2'] as const).map((version): BrokenSetup => ({
    name: `a client certificate that has expired, by ${version}`,
    id: 'wrong-key',
    broken: async () => withCertificate(await certificate({ from: -2, days: -1 }), version),
    mended: async () => withCertificate(await certificate(), version),
    says: /The client certificate expired on [\d-]{10}\..*Renew it: replace GENERAL_CERTIFICATE and GENERAL_PRIVATE_KEY\./,
  })),
  {
    name: "a client certificate that the issuer's CA did not sign",
    id: 'wrong-key',
    async broken() {
      const { cert, private: key } = await generate([{ name: 'commonName', value: 'someone' }])
      return withCertificate({ cert, key }, 'TLSv1.3')
    },
    mended: async () => withCertificate(await certificate(), 'TLSv1.3'),
    says: /may refuse this client's certificate: check the end date of GENERAL_CERTIFICATE /,
  },
  {
    name: "a client certificate with another certificate's key",
    id: 'option-wrong',
    broken: async () =>
      withCertificate({ ...(await certificate()), key: (await certificate()).key }, 'TLSv1.2'),
    mended: async () => withCertificate(await certificate(), 'TLSv1.2'),
    says: /option-wrong.*issuers\.general\.credentials.*not usable with `certificate`.*Correct GENERAL_PRIVATE_KEY\. Allowed: its key/,
  },
  {
    name: 'a client certificate that expires in five days',
    id: 'secret-expiring',
    broken: async () => withCertificate(await certificate({ days: 5.5 }), 'TLSv1.3'),
    mended: async () => withCertificate(await certificate(), 'TLSv1.3'),
    says: /expires on [\d-]{10}, in 5 days\..*Renew it: replace GENERAL_CERTIFICATE/,
  },
  {
    name: 'a page with status 400 from a server that wants a client certificate',
    id: 'firewall-page',
    broken: async () => issuerAt(await tlsServer(tokenServer(400, '<h1>No required certificate</h1>'))),
    mended: rightIssuer,
    says: /Or the server wants a client certificate \(`tls_client_auth`\): ask its operator\./,
  },
  {
    name: 'a client that is not allowed to use this grant',
    id: 'request-refused',
    broken: async () => issuerAt(await tlsServer(tokenServer(400, { error: 'unauthorized_client' }))),
    mended: rightIssuer,
  },
  {
    name: 'a wrong secret at a server that calls it unauthorized_client, as Keycloak does',
    id: 'wrong-secret',
    broken: async () => issuerAt(await tlsServer(tokenServer(401, { error: 'unauthorized_client' }))),
    says: /Copy the client id and secret again.*ask whether this client may use this grant/,
    mended: rightIssuer,
  },
  {
    name: 'a clock that is two hours ahead of the issuer',
    id: 'clock-off',
    async broken() {
      const date = new Date(Date.now() - 7_200_000).toUTCString()
      return issuerAt(await tlsServer(tokenServer(200, bearer, { date })))
    },
    mended: rightIssuer,
  },
  {
    name: 'a secret that expires in five days',
    id: 'secret-expiring',
    broken: () => ({ env: { GENERAL_SECRET_ISSUED_AT: daysAgo(360) } }),
    says: /5 days left: it was issued on [\d-]{10}, 360 days ago.*set GENERAL_CLIENT_SECRET and GENERAL_SECRET_ISSUED_AT/,
    mended: () => ({ env: { GENERAL_SECRET_ISSUED_AT: daysAgo(1) } }),
  },
  {
    name: 'secrets of unknown age, with --secret-days',
    id: 'secret-age-unknown',
    broken: () => ({ args: ['--secret-days', '10'] }),
    says: /Set GENERAL_SECRET_ISSUED_AT and WEBLINK_SECRET_ISSUED_AT to a date/,
    mended: () => ({ env: { GENERAL_SECRET_ISSUED_AT: daysAgo(1), WEBLINK_SECRET_ISSUED_AT: daysAgo(1) } }),
  },
  {
    name: 'an API that responds with status 503',
    id: 'call-failed',
    broken: () => apiWith(503, {}),
    mended: goodApi,
    says: /Whether the API accepts the token is not known\..*tell the API's operator/,
  },
  {
    name: 'a `--url` that does not accept GET',
    id: 'call-failed',
    broken: () => apiWith(405, { allow: 'POST' }),
    mended: goodApi,
    says: /"severity":"warning".*This URL does not accept GET/,
  },
  ...(
    [
      [
        'a redirect to a login page',
        302,
        { location: 'https://login.example.com/' },
        /redirect to https:\/\/login\.example\.com\./,
      ],
      [
        'a firewall that responds with a page and status 200',
        200,
        { 'content-type': 'text/html' },
        /200 with an HTML page/,
      ],
    ] as const
  ).map(([name, status, headers, says]): BrokenSetup => ({
    name: `${name}, in place of the API`,
    id: 'firewall-page',
    broken: () => apiWith(status, headers),
    mended: goodApi,
    says,
  })),
  ...[401, 403].map((status): BrokenSetup => ({
    name: `an API that asks for another scope, with status ${status}`,
    id: 'call-forbidden',
    broken: () =>
      apiWith(status, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="reports.read"' }),
    mended: goodApi,
    says: new RegExp(
      `Status ${status} \\(insufficient_scope, scope .*reports.read.*add .*reports.read.* to the \`scope\``,
    ),
  })),
  {
    name: 'a URL that matches no API',
    id: 'call-unrouted',
    broken: () => ({ args: ['--url', 'https://127.0.0.1/records'] }),
    mended: () => ({ args: ['--url', `${good['API_URL']}records`] }),
  },
  {
    name: "an API that accepts only the other issuer's tokens",
    id: 'call-wrong-issuer',
    broken: () => ({
      env: { API_URL: good['WEBLINK_URL'], ...noWeblink },
      args: ['--url', `${good['WEBLINK_URL']}records`],
    }),
    mended: goodApi,
  },
  {
    name: 'a `renewBefore` longer than half the lifetime',
    id: 'lifetime-short',
    broken: () => ({ args: ['--module', application], env: { RENEW_BEFORE: '3000000' } }),
    mended: () => ({ args: ['--module', application], env: { RENEW_BEFORE: '900000' } }),
  },
  {
    name: "a rate policy that differs from the API's",
    id: 'policy-differs',
    broken: () => ({
      args: ['--module', application, '--url', `${good['API_URL']}records`],
      env: { QUOTA: '50' },
    }),
    mended: () => ({ env: { QUOTA: '500' } }),
  },
  {
    name: 'a token store that is down',
    id: 'store-failed',
    broken: () => ({ args: ['--module', application], env: { STORE: 'down' } }),
    mended: () => ({ args: ['--module', application], env: { STORE: undefined } }),
  },
  {
    name: 'a Redis that is down',
    id: 'store-failed',
    broken: async () => ({
      args: ['--module', fleet],
      env: { REDIS_URL: `redis://127.0.0.1:${await deadPort()}` },
    }),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a Redis that accepts connections and does not respond',
    id: 'store-failed',
    broken: async () => fleetOn(`redis://127.0.0.1:${await silentPort()}`),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
    says: /\(@redis\/client: no response.*Look at the Redis server/,
  },
  {
    name: 'a Redis that accepts connections and does not respond, and a module that waits for it',
    id: 'store-failed',
    broken: async () => ({
      args: ['--module', fleet, '--load-timeout', '20'],
      env: { REDIS_URL: `redis://127.0.0.1:${await silentPort()}`, WAIT_FOR_REDIS: '1' },
    }),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
    says: /\(@redis\/client: no response.*The module waits for Redis.*Look at the Redis server/,
  },
  {
    name: 'a Redis that is a read-only replica',
    id: 'store-failed',
    broken: async () => fleetOn(await redisWith('--replicaof', '127.0.0.1', String(await deadPort()))),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a user of Redis that may not write',
    id: 'store-failed',
    broken: async () => {
      const url = await redisWith('--user', 'reader', 'on', '>password', '~*', '&*', '+@all', '-@write')
      return fleetOn(url.replace('//', '//reader:password@'))
    },
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a Redis whose memory is full',
    id: 'store-failed',
    broken: async () => fleetOn(await redisWith('--maxmemory', '1')),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a Redis that evicts keys when its memory is full',
    id: 'eviction-policy',
    broken: async () => fleetOn(await redisWith('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')),
    mended: async () => {
      const url = await redisWith('--maxmemory', '100mb', '--maxmemory-policy', 'noeviction')
      return { env: { REDIS_URL: url } }
    },
  },
  {
    name: 'a Redis whose clock is an hour ahead',
    id: 'clock-off',
    broken: async () => fleetOn(await redisWithClock(redis.url, 3_600)),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a token store that keeps nothing',
    id: 'store-failed',
    broken: () => ({ args: ['--module', application], env: { STORE: 'forgets' } }),
    mended: () => ({ env: { STORE: undefined } }),
  },
  {
    name: 'two secrets that the issuer accepts',
    id: 'secrets-both-live',
    async broken() {
      const own = await ownSandbox()
      const { clientSecret } = own.control.rotateSecret('general', { overlap: true })
      return { own, env: { ...own.env, GENERAL_CLIENT_SECRET_NEXT: clientSecret } }
    },
    mended({ own, env }) {
      own?.control.dropOldSecrets('general')
      return { env: { GENERAL_CLIENT_SECRET: env?.['GENERAL_CLIENT_SECRET_NEXT'], ...noNext } }
    },
  },
  {
    name: 'a list whose second secret the issuer refuses',
    id: 'secret-refused',
    broken: () => ({ env: { GENERAL_CLIENT_SECRET_NEXT: 'not-the-secret' } }),
    mended: () => ({ env: noNext }),
  },
  {
    name: 'a list whose first secret has expired',
    id: 'secret-refused',
    broken: () => ({
      env: {
        GENERAL_CLIENT_SECRET: 'the-old-secret',
        GENERAL_CLIENT_SECRET_NEXT: good['GENERAL_CLIENT_SECRET'],
      },
    }),
    mended: () => ({ env: { GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'], ...noNext } }),
  },
  {
    name: 'an axios client whose agent allows TLS 1.0',
    id: 'tls-floor',
    broken: () => ({ args: ['--module', clients], env: { AXIOS_TLS: '1' } }),
    mended: () => ({ env: { AXIOS_TLS: undefined } }),
  },
  {
    name: 'a got client whose agent allows TLS 1.0',
    id: 'tls-floor',
    broken: () => ({ args: ['--module', clients], env: { GOT_TLS: '1' } }),
    mended: () => ({ env: { GOT_TLS: undefined } }),
  },
  {
    name: 'an agent that accepts any certificate',
    id: 'tls-unverified',
    broken: () => ({ args: ['--module', clients], env: { ANY_CERTIFICATE: '1' } }),
    mended: () => ({ env: { ANY_CERTIFICATE: undefined } }),
  },
  {
    name: "a proxy that is down, used by the application's own `fetch`",
    id: 'own-fetch-failed',
    broken: async () => ({
      args: ['--module', ownFetch],
      env: { OWN_PROXY: `http://127.0.0.1:${await deadPort()}` },
    }),
    mended: async () => ({ env: { OWN_PROXY: await tunnelProxy() } }),
  },
  {
    name: 'a wrong path under the issuer',
    id: 'wrong-path',
    broken: () => ({ env: { AUTH_URL: `${good['AUTH_URL']}/oauth` } }),
    mended: rightIssuer,
  },
  {
    name: "the two issuers' URLs swapped",
    id: 'wrong-path',
    broken: () => ({ env: { AUTH_URL: good['WEBLINK_AUTH_URL'], WEBLINK_AUTH_URL: good['AUTH_URL'] } }),
    mended: () => ({ env: good }),
  },
  {
    name: 'an empty variable',
    id: 'option-wrong',
    broken: () => ({ env: { GENERAL_CLIENT_SECRET: '' } }),
    mended: () => ({ env: { GENERAL_CLIENT_SECRET: good['GENERAL_CLIENT_SECRET'] } }),
  },
  {
    name: 'an issuer that refuses the client in words of its own',
    id: 'wrong-secret',
    broken: async () => issuerAt(await tlsServer(plainServer(401, 'Unauthorized'))),
    mended: rightIssuer,
  },
  {
    name: 'an issuer that refuses the client without a word',
    id: 'wrong-secret',
    broken: async () => issuerAt(await tlsServer(plainServer(403, ''))),
    mended: rightIssuer,
  },
  {
    name: 'an issuer that does not decode `client_secret_basic` credentials',
    id: 'wrong-secret',
    broken: async () => {
      const url = await tlsServer(undecodingServer('client-1', 'a+b/c='))
      const client = { GENERAL_CLIENT_ID: 'client-1', GENERAL_CLIENT_SECRET: 'a+b/c=' }
      return anyIssuerAt(`${url}/token`, { ...client, METHOD: 'client_secret_basic' })
    },
    mended: () => ({ env: { METHOD: 'client_secret_post' } }),
    says: /Try `client_secret_post` first: it has nothing to decode/,
  },
  {
    name: 'a client that is registered for another `clientAuthentication`',
    id: 'wrong-secret',
    broken: () =>
      anyIssuerAt(`${good['AUTH_URL']}/public/security/v1/token`, { METHOD: 'client_secret_basic' }),
    mended: () => ({ env: { METHOD: 'client_secret_post' } }),
    says: /whether the client is registered for another `clientAuthentication`\./,
  },
  {
    name: 'a client that is registered for another `clientAuthentication`, as the issuer says',
    id: 'wrong-secret',
    broken: async () => {
      const words = { error: 'invalid_client', error_description: 'Client must use client_secret_basic' }
      return anyIssuerAt(`${await tlsServer(tokenServer(401, words))}/token`, {})
    },
    mended: () => anyIssuerAt(`${good['AUTH_URL']}/public/security/v1/token`, {}),
    says: /Set `clientAuthentication` to the method in the issuer's message first\. Copy /,
  },
  {
    name: 'a key that the issuer does not know',
    id: 'wrong-key',
    broken: async () => {
      const url = await tlsServer(tokenServer(401, { error: 'invalid_client' }))
      return anyIssuerAt(`${url}/token`, { GENERAL_PRIVATE_KEY: privateKey, METHOD: 'private_key_jwt' })
    },
    mended: async () => ({ env: { TOKEN_ENDPOINT: await tlsServer(tokenServer(200, bearer)) } }),
    says: /public key and its `keyId`, the algorithm/,
  },
  {
    name: 'a key in PKCS#1 form',
    id: 'option-wrong',
    broken: async () =>
      anyIssuerAt(await tlsServer(tokenServer(200, bearer)), {
        GENERAL_PRIVATE_KEY: pkcs1,
        METHOD: 'private_key_jwt',
      }),
    mended: () => ({ env: { GENERAL_PRIVATE_KEY: privateKey } }),
    says: /openssl pkcs8/,
  },
  {
    name: 'metadata that names another issuer',
    id: 'token-missing',
    broken: async () =>
      anyIssuerAt('', { ISSUER: await tlsServer(tokenServer(200, { issuer: 'https://other.example.com' })) }),
    mended: async () => ({
      env: { ISSUER: undefined, TOKEN_ENDPOINT: await tlsServer(tokenServer(200, bearer)) },
    }),
  },
  {
    name: 'an issuer without metadata',
    id: 'wrong-path',
    broken: async () => anyIssuerAt('', { ISSUER: await tlsServer(tokenServer(404, {})) }),
    mended: async () => ({
      env: { ISSUER: undefined, TOKEN_ENDPOINT: await tlsServer(tokenServer(200, bearer)) },
    }),
  },
  {
    name: 'metadata that names an unknown host as its token endpoint',
    id: 'host-unknown',
    broken: async () => {
      const token_endpoint = 'https://auth.invalid/token'
      const ISSUER = await tlsServer((request, response) =>
        tokenServer(200, { issuer: `https://${request.headers.host}`, token_endpoint })(request, response),
      )
      return anyIssuerAt('', { ISSUER })
    },
    mended: async () => ({
      env: { ISSUER: undefined, TOKEN_ENDPOINT: await tlsServer(tokenServer(200, bearer)) },
    }),
    says: /auth\.invalid\/token.*ENOTFOUND.*metadata names a wrong host/,
  },
  ...[
    ['invalid_request', tokenServer(400, { error: 'invalid_request' })] as const,
    ['status 400', plainServer(400, 'Bad request')] as const,
    ['status 415', plainServer(415, '')] as const,
  ].map(([what, server]): BrokenSetup => ({
    name: `${what} from an issuer that does not understand the request`,
    id: 'request-refused',
    broken: async () => issuerAt(await tlsServer(server)),
    mended: rightIssuer,
    says: /`parameters`, `scope` and `clientAuthentication`/,
  })),
  {
    name: 'a scope that the issuer does not know',
    id: 'request-refused',
    broken: async () => issuerAt(await tlsServer(tokenServer(400, { error: 'invalid_scope' }))),
    mended: rightIssuer,
    says: /Correct the issuer's `scope`: it is missing, misspelled/,
  },
  {
    name: 'a `resource` that the issuer does not know',
    id: 'request-refused',
    broken: async () => issuerAt(await tlsServer(tokenServer(400, { error: 'invalid_target' }))),
    mended: rightIssuer,
    says: /`resource` in the issuer's `parameters`.*RFC 8707/,
  },
  {
    name: 'a redirect to a login page',
    id: 'firewall-page',
    broken: async () =>
      issuerAt(await tlsServer(tokenServer(302, '', { location: 'https://login.example.com/' }))),
    mended: rightIssuer,
    says: /redirected to https:\/\/login\.example\.com \(status 302\)/,
  },
  ...[
    ['throws', /credentials function failed \(VaultSealed\)/],
    ['rejects', /credentials function failed/],
    ['gives no secret', /`clientSecret` is missing/],
    ['gives an empty secret', /`clientSecret`/],
    ['gives nothing', /returned nothing/],
    ['gives an empty list', /empty array/],
    ['gives a date as text', /`secretIssuedAt`/],
    ['lasts', /did not respond in time/],
  ].map(([what, says]): BrokenSetup => ({
    name: `a credentials function that ${what as string}`,
    id: 'credentials-missing',
    broken: async () =>
      anyIssuerAt(await tlsServer(tokenServer(200, bearer)), { CREDENTIALS: what as string }),
    mended: () => ({ env: { CREDENTIALS: undefined } }),
    says: says as RegExp,
  })),
  {
    name: 'a server that accepts connections and sends nothing',
    id: 'no-response',
    broken: async () => issuerAt(`https://127.0.0.1:${await silentPort()}`),
    mended: rightIssuer,
  },
  {
    name: 'an issuer that never responds',
    id: 'no-response',
    broken: async () => issuerAt(await tlsServer(() => {})),
    mended: rightIssuer,
  },
  {
    name: 'a `requestTimeout` too short for the issuer',
    id: 'no-response',
    broken: () => ({ args: ['--module', application], env: { REQUEST_TIMEOUT: '1' } }),
    mended: () => ({ env: { REQUEST_TIMEOUT: undefined } }),
    says: /Raise `requestTimeout` first.* 1 ms is too short/,
  },
  ...[
    ['wants a client certificate', { requestCert: true, maxVersion: 'TLSv1.2' }],
    ['offers other ciphers only', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-CCM8' }],
  ].map(([what, options]): BrokenSetup => ({
    name: `a server that ${what as string}`,
    id: 'connection-failed',
    broken: async () =>
      issuerAt(
        await tlsServer(tokenServer(200, bearer), { ...(await certificate()), ...(options as object) }),
      ),
    mended: rightIssuer,
    says: /refused the TLS handshake \(ERR_SSL_.*client certificate/,
  })),
  {
    name: 'a port that does not speak TLS',
    id: 'connection-failed',
    broken: async () => issuerAt((await tunnelProxy()).replace('http:', 'https:')),
    mended: rightIssuer,
  },
  {
    name: 'a proxy that wants a password',
    id: 'proxy-password',
    broken: async () => ({
      env: { HTTPS_PROXY: await tunnelProxy({ client: 'user:pass word' }), NODE_USE_ENV_PROXY: '1' },
    }),
    mended: ({ env }) => ({
      env: { HTTPS_PROXY: env?.['HTTPS_PROXY']?.replace('//', '//user:pass%20word@') },
    }),
  },
  {
    name: 'a proxy that wants another password',
    id: 'proxy-password',
    broken: async () => ({
      env: {
        HTTPS_PROXY: (await tunnelProxy({ client: 'user:password' })).replace('//', '//user:other@'),
        NODE_USE_ENV_PROXY: '1',
      },
    }),
    mended: ({ env }) => ({ env: { HTTPS_PROXY: env?.['HTTPS_PROXY']?.replace('other', 'password') } }),
  },
  {
    name: 'a proxy that forbids the host',
    id: 'proxy-failed',
    broken: async () => ({
      env: { HTTPS_PROXY: await tunnelProxy({ status: 403 }), NODE_USE_ENV_PROXY: '1' },
    }),
    mended: () => ({ env: { NO_PROXY: '127.0.0.1' } }),
    says: /allow this host and port/,
  },
  {
    name: 'a proxy that cannot find the host',
    id: 'proxy-failed',
    broken: async () => ({
      env: { HTTPS_PROXY: await tunnelProxy({ status: 502 }), NODE_USE_ENV_PROXY: '1' },
    }),
    mended: () => ({ env: { NO_PROXY: '127.0.0.1' } }),
    says: /cannot reach the server/,
  },
  {
    name: 'a proxy that is down and that only axios uses',
    id: 'proxy-failed',
    broken: async () => ({
      args: ['--module', clients],
      env: { HTTPS_PROXY: `http://127.0.0.1:${await deadPort()}` },
    }),
    mended: () => ({ env: { AXIOS_PROXY: 'none' } }),
    says: /axios reads HTTPS_PROXY itself/,
  },
  {
    name: 'a proxy of ALL_PROXY that is down, and that axios alone uses',
    id: 'proxy-failed',
    broken: async () => ({
      args: ['--module', clients],
      env: { ALL_PROXY: `http://127.0.0.1:${await deadPort()}` },
    }),
    mended: () => ({ env: { NO_PROXY: '127.0.0.1' } }),
    says: /axios reads ALL_PROXY itself/,
  },
  ...['127.0.0.1', 'localhost'].map((host): BrokenSetup => ({
    name: `a proxy without a scheme at ${host} that is down, and that axios alone uses`,
    id: 'proxy-failed',
    broken: async () => ({
      args: ['--module', clients],
      env: { HTTPS_PROXY: `${host}:${await deadPort()}` },
    }),
    mended: () => ({ env: { NO_PROXY: '127.0.0.1' } }),
    says: new RegExp(
      `axios calls, proxy ${host}:.*names no scheme, so axios assumes https:.*http://${host}:`,
    ),
  })),
  {
    name: 'a proxy without a scheme, to which axios alone connects by TLS',
    id: 'proxy-failed',
    broken: async () => ({
      args: ['--module', clients],
      env: { HTTPS_PROXY: (await tunnelProxy()).replace('http://', '') },
    }),
    mended: ({ env }) => ({ env: { HTTPS_PROXY: `http://${env?.['HTTPS_PROXY']}` } }),
    says: /names no scheme/,
  },
  {
    name: 'no direct route, and an unused proxy that is down',
    id: 'connection-refused',
    async broken() {
      const proxy = `http://127.0.0.1:${await deadPort()}`
      return { env: { ...issuerAt(`https://127.0.0.1:${await deadPort()}`).env, HTTPS_PROXY: proxy } }
    },
    mended: rightIssuer,
    says: /The connection through the proxy .* failed too.*If this network needs a proxy, set HTTPS_PROXY to one that works.*Otherwise check the port/,
  },
  {
    name: 'a file of authorities that is not there',
    id: 'ca-file-ignored',
    broken: () => ({ env: { NODE_EXTRA_CA_CERTS: join(folder, 'no.pem') } }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
    says: /cannot be read \(ENOENT\)/,
  },
  {
    name: 'a file of authorities that lacks a line break',
    id: 'ca-file-ignored',
    broken: () => ({ env: { NODE_EXTRA_CA_CERTS: fileOf(sandbox.ca.trim() + testAuthority) } }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
    says: /has 2 certificates in PEM form: Node has loaded nothing from it\..*a line break after each/,
  },
  {
    name: 'a file of authorities that is damaged',
    id: 'ca-file-ignored',
    broken: () => ({
      env: {
        NODE_EXTRA_CA_CERTS: fileOf(`${sandbox.ca.trim()}\n${testAuthority.replace(/M.*\r?\n/, '')}`),
      },
    }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
    says: /has 2 certificates in PEM form: Node has loaded 1 certificate from it\./,
  },
  {
    name: 'a file of authorities in DER form',
    id: 'ca-file-ignored',
    broken: () => ({ env: { NODE_EXTRA_CA_CERTS: fileOf(new X509Certificate(sandbox.ca).raw) } }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
    says: /openssl x509 -inform der/,
  },
  {
    name: "a CA file without the servers' authority",
    id: 'authority-unknown',
    broken: () => ({ env: { NODE_EXTRA_CA_CERTS: fileOf(testAuthority) } }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
    says: /add it to .*\.pem \(the file in NODE_EXTRA_CA_CERTS, which has one other\)/,
  },
  {
    name: 'a certificate that is not yet valid',
    id: 'certificate-not-yet-valid',
    broken: async () =>
      issuerAt(await tlsServer(tokenServer(200, bearer), await certificate({ from: 2, days: 9 }))),
    mended: rightIssuer,
  },
  {
    name: 'a clock that is a day behind, so that certificates are not yet valid',
    id: 'clock-off',
    async broken() {
      const date = new Date(Date.now() + 86_400_000).toUTCString()
      return issuerAt(
        await tlsServer(tokenServer(200, bearer, { date }), await certificate({ from: 0.5, days: 90 })),
      )
    },
    mended: rightIssuer,
    says: /24 hours behind/,
  },
  {
    name: 'a clock that is three years ahead, so that certificates have expired',
    id: 'clock-off',
    async broken() {
      const date = new Date(Date.now() - 3 * 365 * 86_400_000).toUTCString()
      return issuerAt(
        await tlsServer(tokenServer(200, bearer, { date }), await certificate({ from: -1_200, days: -900 })),
      )
    },
    mended: rightIssuer,
    says: /1095 days ahead/,
  },
  {
    name: 'a clock that is two days ahead, so assertions are refused',
    id: 'clock-off',
    async broken() {
      const date = new Date(Date.now() - 2 * 86_400_000).toUTCString()
      const url = await tlsServer(tokenServer(401, { error: 'invalid_client' }, { date }))
      return anyIssuerAt(`${url}/token`, { GENERAL_PRIVATE_KEY: privateKey, METHOD: 'private_key_jwt' })
    },
    mended: async () => ({ env: { TOKEN_ENDPOINT: await tlsServer(tokenServer(200, bearer)) } }),
    says: /2 days ahead|48 hours ahead/,
  },
  {
    name: 'a secret that is older than its lifetime',
    id: 'secret-expiring',
    broken: () => ({ env: { GENERAL_SECRET_ISSUED_AT: daysAgo(400) } }),
    mended: () => ({ env: { GENERAL_SECRET_ISSUED_AT: daysAgo(1) } }),
    says: /secret has expired: it was issued on [\d-]{10}, 400 days ago/,
  },
  {
    name: "the two APIs' URLs swapped",
    id: 'call-wrong-issuer',
    broken: () => ({
      env: { API_URL: good['WEBLINK_URL'], WEBLINK_URL: good['API_URL'] },
      args: ['--url', `${good['API_URL']}records`],
    }),
    mended: () => ({ env: { API_URL: good['API_URL'], WEBLINK_URL: good['WEBLINK_URL'] } }),
  },
  {
    name: "tokens for a different audience than the API's metadata names",
    id: 'audience-differs',
    broken: () => otherAudience(),
    mended: ({ env }) => ({ env: { RESOURCE: env?.['API_URL'] } }),
    says: /"severity":"warning".* are for https:\/\/other\.example\.com.* names https:\/\/127.*resource: 'https:\/\/127/,
  },
  {
    name: 'tokens for another audience, which the API refuses, and says where its metadata is',
    id: 'audience-differs',
    async broken() {
      const { args = [], env = {} } = await otherAudience('/about/metadata')
      return { env, args: [...args, '--url', `${env['API_URL']}/records`] }
    },
    mended: ({ env }) => ({ env: { RESOURCE: env?.['API_URL'] } }),
    says: /"severity":"error"/,
  },
  {
    name: 'an assertion that has expired, and no secret or key',
    id: 'assertion-not-sent',
    broken: () => workload({ lifetime: -60_000 }),
    mended: renewed,
    says: /"severity":"error".*expired at .*check that whatever renews it is running/,
  },
  {
    name: 'an assertion for another audience, and no secret or key',
    id: 'assertion-not-sent',
    broken: () => workload({ audience: 'https://other.example.com' }),
    mended: renewed,
    says: /has the wrong audience \(https:\/\/other/,
  },
  {
    name: 'a missing assertion file, and no secret or key',
    id: 'assertion-not-sent',
    async broken() {
      const broken = await workload()
      rmSync(broken.file)
      return broken
    },
    mended: renewed,
    says: /is missing/,
  },
  {
    name: 'an assertion whose key the issuer does not know, and no secret or key',
    id: 'assertion-refused',
    async broken() {
      const broken = await workload()
      broken.own.control.rotateClusterKeys('general')
      return broken
    },
    mended: renewed,
    says: /"severity":"error".* was issued by https:\/\/127.*\/cluster for .*trust the assertion's signer/,
  },
  {
    name: 'an assertion that every user can read',
    id: 'assertion-readable',
    async broken() {
      const broken = await workload()
      chmodSync(broken.file, 0o644)
      return broken
    },
    mended({ env }) {
      chmodSync(env?.['GENERAL_ASSERTION_FILE'] ?? '', 0o600)
      return {}
    },
  },
  {
    name: 'an assertion that was not replaced in time',
    id: 'assertion-stale',
    async broken() {
      const broken = await workload({ lifetime: 240_000 })
      const written = new Date(Date.now() - 3_360_000)
      utimesSync(broken.file, written, written)
      return broken
    },
    mended: renewed,
    says: /last replaced 56 min ago. Its assertion expires in 3 min.*subPath/,
  },
  {
    name: "a wrong prefix in an API's `baseUrl`",
    id: 'call-unrouted',
    broken: () => ({
      env: { API_URL: `${good['API_URL']}v2/` },
      args: ['--url', `${good['API_URL']}records`],
    }),
    mended: () => ({ env: { API_URL: good['API_URL'] } }),
    says: /outside the APIs on this origin: .*\/v2\/.*The path is \/records, and the API's `baseUrl` begins with \/v2\//,
  },
  {
    name: 'a quota used up by others',
    id: 'call-limited',
    broken: limitedApi,
    mended: () => ({ env: { API_URL: good['API_URL'] }, args: ['--module', application] }),
  },
  {
    name: 'another process that invalidates the token',
    id: 'token-contested',
    broken: async () => {
      const refused = new Set<string | undefined>()
      const url = await tlsServer((request, response) => {
        const { authorization } = request.headers
        // another process got a token after the first one that comes
        if (refused.size === 0) refused.add(authorization)
        response.writeHead(refused.has(authorization) ? 401 : 200).end()
      })
      return { env: { API_URL: `${url}/` }, args: ['--url', `${url}/records`] }
    },
    mended: goodApi,
    says: /Share tokens between all processes/,
  },
  {
    name: 'an API that never responds',
    id: 'no-response',
    broken: async () => {
      const url = await tlsServer(() => {})
      return { env: { API_URL: `${url}/` }, args: ['--url', `${url}/records`] }
    },
    mended: goodApi,
  },
  {
    name: 'a user of Redis that may not run scripts',
    id: 'store-failed',
    broken: async () => fleetOn(await redisUserWith('~*', '&*', '+@all', '-eval', '-evalsha')),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a user of Redis for keys of another prefix',
    id: 'store-failed',
    broken: async () => fleetOn(await redisUserWith('~other:*', '&*', '+@all')),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
  },
  {
    name: 'a wrong password of Redis, with redis',
    id: 'store-failed',
    broken: async () => fleetOn((await redisUserWith('~*', '&*', '+@all')).replace(':password', ':other')),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
    says: /127\.0\.0\.1:\d+ \(@redis\/client: WRONGPASS/,
  },
  {
    name: 'a wrong password of Redis, with ioredis',
    id: 'store-failed',
    broken: async () => ({
      args: ['--module', ioredis],
      env: { REDIS_URL: (await redisUserWith('~*', '&*', '+@all')).replace(':password', ':other') },
    }),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
    says: /Redis user name (?:or|and) password/,
  },
  {
    name: 'a Redis with TLS whose authority is not trusted',
    id: 'store-failed',
    broken: async () => ({
      args: ['--module', fleet],
      env: { REDIS_URL: await redisWithTls(redis.url), NODE_EXTRA_CA_CERTS: fileOf(sandbox.ca) },
    }),
    mended: () => ({ env: { NODE_EXTRA_CA_CERTS: caFile } }),
    says: /: (?:SELF_SIGNED|UNABLE_TO)\w+.*/,
  },
  {
    name: 'a Redis with TLS, and a URL without it',
    id: 'store-failed',
    broken: async () => fleetOn((await redisWithTls(redis.url)).replace('rediss:', 'redis:')),
    mended: ({ env }) => ({ env: { REDIS_URL: env?.['REDIS_URL']?.replace('redis:', 'rediss:') } }),
    says: /rediss:/,
  },
  {
    name: 'a Redis without TLS, and a URL with it',
    id: 'store-failed',
    broken: () => fleetOn(redis.url.replace('redis:', 'rediss:')),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
    says: /or it does not speak TLS although the URL begins with `rediss:`/,
  },
  {
    name: 'a Redis client that is not connected',
    id: 'store-failed',
    broken: () => ({ args: ['--module', fleet], env: { REDIS_URL: redis.url, CONNECT: '' } }),
    mended: () => ({ env: { CONNECT: undefined } }),
    says: /Claiming a name failed \(CLIENT_CLOSED_ERROR\).*Call `connect\(\)` on the Redis client/,
  },
  {
    name: 'a Redis cluster without slots',
    id: 'store-failed',
    broken: async () => ({
      args: ['--module', ioredis],
      env: { REDIS_URL: await redisWith('--cluster-enabled', 'yes') },
    }),
    mended: () => ({ env: { REDIS_URL: redis.url } }),
    says: /CLUSTERDOWN/,
  },
]

const mendedSetups = new Map<string, ReturnType<typeof doctor>>()

/** Diagnoses a mended set-up once: half of them are the same good one. */
function ofMended(args: readonly string[], env: Variables): ReturnType<typeof doctor> {
  const key = JSON.stringify([args, env])
  const diagnosis = mendedSetups.get(key) ?? doctor(args, env)
  mendedSetups.set(key, diagnosis)
  return diagnosis
}

describe.concurrent('each broken set-up is told by its own finding, and the fix that is named mends it', () => {
  test.each(setups)('$name: $id', async ({ id, broken, says = /^/, mended }) => {
    const change = await broken()
    const env = { ...good, ...change.env }
    const before = await doctor(change.args ?? [], env)
    expect(idsOf(before.found.findings), before.stdout).toEqual([id])
    expect(JSON.stringify(before.found.findings[0])).toMatch(says)
    const sentences = before.found.findings.flatMap(({ seen, why, fix }) => [seen, why, fix])
    expect(sentences.filter((one) => !/[.?]$/.test(one))).toEqual([])
    expect(before.status).toBe(1)
    expect(before.found.ok).toBe(false)
    const printed = before.stdout + before.stderr
    const secrets = [env['GENERAL_CLIENT_SECRET'], good['WEBLINK_CLIENT_SECRET'], bearer.access_token]
    expect(secrets.filter((secret) => secret && printed.includes(secret))).toEqual([])
    const fix = await mended(change)
    const after = await ofMended(fix.args ?? change.args ?? [], { ...env, ...fix.env })
    expect(idsOf(after.found.findings), after.stdout).toEqual([])
    expect(after.status).toBe(0)
  })
})

/** What is worth knowing only, such as the authorities of this test, is left out. */
function textsOf(looked: Diagnosis['looked']): string[] {
  return looked.map((one) => one.text)
}

function idsOf(findings: Diagnosis['findings']): string[] {
  return findings.flatMap(({ id, severity }) => (severity === 'info' ? [] : [id]))
}

test.concurrent.each<[string, () => Change | Promise<Change>]>([
  ['nothing in the way', () => ({})],
  [
    'a line break at the end of the secret',
    () => ({ env: { GENERAL_CLIENT_SECRET: `${good['GENERAL_CLIENT_SECRET']}\n` } }),
  ],
  [
    'a proxy with a password',
    async () => ({
      env: {
        HTTPS_PROXY: (await tunnelProxy({ client: 'user:pass word' })).replace('//', '//user:pass%20word@'),
        NODE_USE_ENV_PROXY: '1',
      },
    }),
  ],
  [
    'a proxy that Node does not use, and neither does a client of axios',
    async () => ({
      args: ['--module', clients],
      env: { HTTPS_PROXY: `http://127.0.0.1:${await deadPort()}`, AXIOS_PROXY: 'none' },
    }),
  ],
  [
    'an API that is named as the audience of its tokens',
    async () => {
      const API_URL = `${await tlsServer(resourceServer())}/orders`
      return anyIssuerAt(`${await tlsServer(audienceServer(API_URL))}/token`, { API_URL })
    },
  ],
  [
    'an API whose origin has the metadata of another one',
    async () => {
      const { env } = await otherAudience('/.well-known/oauth-protected-resource')
      return { args: ['--module', anyIssuer], env: { ...env, API_URL: `${env?.['API_URL']}-of-others` } }
    },
  ],
  ['an assertion in a file as the only proof', () => workload()],
  [
    'an issuer that wants the client certificate which the application has',
    async () => withCertificate(await certificate(), 'TLSv1.2'),
  ],
  ['a Redis with TLS', async () => fleetOn(await redisWithTls(redis.url))],
  [
    'a user of Redis with the rights that are needed alone',
    async () => fleetOn(await redisUserWith('~tokenlane:*', ...commands)),
  ],
])('with %s nothing is wrong', async (_, setUp) => {
  const { args = [], env } = await setUp()
  const { found, status } = await doctor(args, { ...good, ...env })
  expect(idsOf(found.findings)).toEqual([])
  expect(status).toBe(0)
})

test.each([
  ['other words', () => 'The audience is invalid', /: "The audience is invalid"\) for a token/],
  [
    'the token',
    (token: string) => `no such token: ${token.slice(3)}`,
    /Status 401 \(invalid_token\) for a token/,
  ],
])(
  'the reason that an API gives for a 401 is quoted, unless it repeats the token: %s',
  async (_, say, seen) => {
    const api = await tlsServer(({ headers }, response) => {
      const description = say(headers.authorization?.split(' ')[1] ?? '')
      const challenge = `Bearer error="invalid_token", error_description="${description}"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
    })
    const { found } = await doctor(['--url', `${api}/records`], { ...good, ...noWeblink, API_URL: `${api}/` })
    expect(found.findings[0]?.seen).toMatch(seen)
  },
)

test('a 401 to what the doctor asks without a token is not taken for one to a client without tokens', async () => {
  const asked: unknown[] = []
  const api = await tlsServer(({ url, headers }, response) => {
    if (headers.authorization === undefined) asked.push(url)
    response.writeHead(headers.authorization === undefined ? 401 : 200).end()
  })
  const { stdout, stderr } = await tokenlane(['doctor', '--module', anyIssuer], {
    ...good,
    TOKEN_ENDPOINT: `${good['AUTH_URL']}/public/security/v1/token`,
    API_URL: `${api}/`,
    LOGS: 'yes',
  })
  expect(asked).not.toEqual([])
  expect(stdout + stderr).toContain('new token')
  expect(stdout + stderr).not.toContain('without a token')
})

test('every finding has a section in the guide, and every section a finding', () => {
  const checks = new URL('../src/checks/', import.meta.url)
  const source = readdirSync(checks)
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, checks), 'utf8'))
    .join('')
  // an id stands behind `id:` or `idOf`, or is the name of a fix
  const places = /\bid(?:: | = |Of = ).*|^ {2}'[a-z-]+': /gm
  const named = Array.from(source.matchAll(places), ([line]) => line).join('\n')
  const ids = Array.from(named.matchAll(/'([a-z]+-[a-z-]+)'/g), ([, id]) => id)
  const sections = Array.from(page.matchAll(/^### (\S+)$/gm), ([, id]) => id)
  expect(new Set(ids)).toEqual(new Set(sections))
})

test('an issuer gets one token request for each credential, whatever it answers', async () => {
  let requests = 0
  const answer = tokenServer(503, {})
  const url = await tlsServer((request, response) => {
    if (request.method === 'POST') requests += 1
    answer(request, response)
  })
  await doctor(['--url', `${good['API_URL']}records`], { ...good, ...issuerAt(url).env })
  expect(requests).toBe(1)
})

test('an issuer is asked once with each of two secrets, and once more where the API refuses its token', async () => {
  const asked: string[] = []
  const answer = tokenServer(200, bearer)
  const url = await tlsServer((request, response) => {
    if (request.method === 'POST')
      void text(request).then((body) => asked.push(new URLSearchParams(body).get('client_secret') ?? ''))
    answer(request, response)
  })
  const env = {
    ...good,
    ...issuerAt(url).env,
    GENERAL_CLIENT_SECRET: 'one',
    GENERAL_CLIENT_SECRET_NEXT: 'two',
  }
  await doctor(['--url', `${good['API_URL']}records`], env)
  // the API refuses the token, and one more shows whether another process took it away
  expect(asked).toEqual(['one', 'two', 'one'])
})

test('the line of the call says how long its response took, and a script reads what was looked at as data', async () => {
  const url = `${good['API_URL']}records`
  const { found } = await doctor(['--url', url], good)
  expect(textsOf(found.looked)).toContainEqual(
    expect.stringMatching(/^call https:\S+records: 200 after \d+ ms$/),
  )
  const anyNumber = expect.any(Number) as number
  for (const [what, subject, data] of [
    ['token', 'general', { lifetime: anyNumber, duration: anyNumber }],
    ['call', url, { status: 200, duration: anyNumber }],
    ['server', good['AUTH_URL'], { roles: ['issuer general'], protocol: 'TLSv1.3' }],
    ['runtime', 'Node', { version: process.versions.node }],
  ] as const)
    expect(found.looked).toContainEqual(
      expect.objectContaining({ what, subject, data: expect.objectContaining(data) as object }),
    )
})

test('an issuer that only the `fetch` of the application reaches is fine', async () => {
  const target = `127.0.0.1:${await deadPort()}`
  const proxy = await tunnelProxy({ targets: { [target]: new URL(String(good['AUTH_URL'])).host } })
  const env = { ...good, AUTH_URL: `https://${target}`, OWN_PROXY: proxy }
  const { found } = await doctor(['--module', ownFetch], env)
  expect(idsOf(found.findings)).toEqual([])
  expect(textsOf(found.looked)).toContain(
    `https://${target} (issuer general): through the application's \`fetch\`: reached; directly: ECONNREFUSED`,
  )
})

test('a user of Redis without INFO is told that the eviction policy could not be looked at', async () => {
  const url = await redisWith('--user', 'plain', 'on', '>password', '~*', '&*', '+@all', '-info')
  const { args, env } = fleetOn(url.replace('//', '//plain:password@'))
  const { found } = await doctor(args ?? [], { ...good, ...env })
  expect(idsOf(found.findings)).toEqual([])
  expect(textsOf(found.looked)).toContain(
    'token store: works, on Redis; could not read its eviction policy, since it refuses INFO',
  )
})

test('an issuer named by a flag can be checked alone; a variable without its API is a warning', async () => {
  const { AUTH_URL: url, GENERAL_CLIENT_ID, GENERAL_CLIENT_SECRET, NODE_EXTRA_CA_CERTS } = good
  const env = { GENERAL_CLIENT_ID, GENERAL_CLIENT_SECRET, NODE_EXTRA_CA_CERTS }
  const alone = await doctor(['--auth-url', String(url)], env)
  expect(textsOf(alone.found.looked)).toContain('no API is known: only issuers were checked')
  expect([alone.status, idsOf(alone.found.findings)]).toEqual([0, []])
  const { found, status } = await doctor([], { ...env, AUTH_URL: url })
  expect([status, idsOf(found.findings)]).toEqual([1, ['option-wrong']])
})

test('several things that are wrong are all found, the worst first', async () => {
  const { found } = await doctor([], {
    ...good,
    GENERAL_CLIENT_SECRET: 'not-the-secret',
    GENERAL_SECRET_ISSUED_AT: daysAgo(360),
    WEBLINK_AUTH_URL: `https://127.0.0.1:${await deadPort()}`,
  })
  expect(found.findings.map(({ id, severity }) => `${severity} ${id}`)).toEqual([
    'error connection-refused',
    'error wrong-secret',
    'warning secret-expiring',
    'info authority-private',
  ])
})

test('text for people has at most 80 columns, and no colour where there is no terminal', async () => {
  const { stdout } = await tokenlane(['doctor'], { ...good, GENERAL_CLIENT_SECRET: 'not-the-secret' })
  expect(stdout).toMatch(/^error wrong-secret {2}issuer general\n {2}seen {2}Issuer "general"/)
  expect(stdout).toMatch(/\n1 error, 1 info\.\n$/)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(stdout).not.toContain('\u001B')
})

test('a call shows that the rate budget on Redis cannot be reached', async () => {
  const env = { ...good, REDIS_URL: `redis://127.0.0.1:${await deadPort()}` }
  const args = ['--module', fleet, '--url', `${good['API_URL']}records`]
  const { found, status } = await doctor(args, env)
  expect(idsOf(found.findings)).toEqual(['store-failed'])
  expect(status).toBe(1)
  const mended = await doctor(args, { ...env, REDIS_URL: redis.url })
  expect(idsOf(mended.found.findings)).toEqual([])
})

test('an env file counts from the start of the process, where the authority of a server stands in it', async () => {
  const file = join(folder, '.env')
  writeFileSync(
    file,
    Object.entries(good)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const { found, status } = await doctor(['--env-file', file], {})
  expect(status).toBe(0)
  expect(found.findings).toContainEqual(
    expect.objectContaining({ id: 'env-file-ignored', severity: 'info', subject: 'NODE_EXTRA_CA_CERTS' }),
  )
  const set = await doctor([`--env-file=${file}`], { NODE_EXTRA_CA_CERTS: caFile })
  expect(set.found.findings.map(({ id }) => id)).toEqual(['authority-private'])
  appendFileSync(file, 'A_COLOR=red # or blue\nA_SECRET=abc#def\n')
  const stale = await doctor([`--env-file=${file}`], { GENERAL_CLIENT_SECRET: 'rotated-away' })
  for (const subject of ['GENERAL_CLIENT_SECRET', 'A_SECRET'])
    expect(stale.found.findings).toContainEqual(
      expect.objectContaining({ id: 'env-file-ignored', severity: 'info', subject }),
    )
  expect(idsOf(stale.found.findings)).toEqual(['wrong-secret'])
})
