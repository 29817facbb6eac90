// What readers looked for and did not find: the search of the site must lead to it.
import type { Page } from 'puppeteer-core'

/** Whose page is among the first five results. */
const listedPages: Readonly<Record<string, string>> = {
  azure: 'guide/providers#entra-id',
  'next.js': 'guide/frequent-starts',
  'axios 1.13': 'packages/axios',
  'self-signed': 'guide/troubleshoot',
  dns: 'guide/troubleshoot',
  'show me the logs': 'guide/observe#logs',
}
/** Whose page or section is the first result: readers take it for the answer. */
const firstPages: Readonly<Record<string, string>> = {
  'EACCES proxy': 'guide/proxy',
  '401 loop': 'guide/troubleshoot',
  'rotate secret': 'guide/rotate-secret',
  '429': 'guide/troubleshoot#a-call-gets-a-429',
  'rate limit': 'guide/rate-policy',
  'redis down': 'guide/redis',
  'health check': 'guide/observe',
  'graceful shutdown': 'guide/bootstrap',
  'slow calls': 'guide/troubleshoot',
  ECONNREFUSED: 'guide/troubleshoot',
  QUEUE_TIMEOUT: 'guide/troubleshoot',
  '403': 'guide/troubleshoot',
  'secret expired': 'guide/rotate-secret',
  'how to test': 'guide/test-your-app',
  alert: 'guide/metrics',
  debug: 'guide/observe',
  retry: 'guide/rate-policy',
  timeout: 'guide/troubleshoot',
  batch: 'guide/batch',
  cancel: 'guide/rate-policy',
  'typescript types': 'guide/typescript',
  lambda: 'guide/frequent-starts',
  kubernetes: 'guide/workload-identity',
  prometheus: 'guide/metrics',
  opentelemetry: 'guide/metrics',
  proxy: 'guide/proxy',
  jest: 'guide/test-tools',
  audience: 'guide/bootstrap',
  basic: 'guide/bootstrap',
  'node 20': 'support',
  keycloak: 'guide/providers#keycloak',
  okta: 'guide/providers#okta',
  auth0: 'guide/providers#auth0',
  entra: 'guide/providers#entra-id',
  cognito: 'guide/providers#amazon-cognito',
  ping: 'guide/providers#ping',
  mcp: 'guide/mcp',
  bottleneck: 'guide/coming-from#bottleneck',
  websocket: 'guide/streams',
  grpc: 'guide/streams',
  install: 'guide/bootstrap',
  logging: 'guide/observe',
  mtls: 'guide/bootstrap',
  commonjs: 'guide/bootstrap',
  '503': 'guide/troubleshoot#token_request_failed',
  logs: 'guide/observe#logs',
  'access logs': 'guide/observe#logs',
  'many processes': 'guide/fleet',
  'too many token requests': 'guide/troubleshoot#the-issuer-gets-too-many-token-requests',
  'client assertion': 'guide/bootstrap',
  'disable retries': 'guide/token-life#calls-that-must-not-be-sent-twice',
  'multiple apis': 'guide/bootstrap',
  'bundle size': 'guide/bootstrap',
  'how long is a refusal remembered': 'guide/troubleshoot#token_request_refused',
  'status page': 'guide/observe',
  idempotency: 'guide/token-life#calls-that-must-not-be-sent-twice',
  idempotent: 'guide/token-life#calls-that-must-not-be-sent-twice',
  invalid_client: 'guide/troubleshoot#token_request_refused',
  invalid_scope: 'guide/troubleshoot#token_request_refused',
  invalid_target: 'guide/troubleshoot#token_request_refused',
  unauthorized_client: 'guide/troubleshoot#token_request_refused',
  INVALID_OPTIONS: 'guide/troubleshoot#invalid_options',
  INSECURE_TRANSPORT: 'guide/troubleshoot#insecure_transport',
  CREDENTIALS_UNAVAILABLE: 'guide/troubleshoot#credentials_unavailable',
  TOKEN_REQUEST_REFUSED: 'guide/troubleshoot#token_request_refused',
  TOKEN_REQUEST_FAILED: 'guide/troubleshoot#token_request_failed',
  TOKEN_REQUEST_TIMEOUT: 'guide/troubleshoot#token_request_timeout',
  TOKEN_RESPONSE_INVALID: 'guide/troubleshoot#token_response_invalid',
  QUEUE_FULL: 'guide/troubleshoot#queue_full',
  MANAGER_CLOSED: 'guide/troubleshoot#manager_closed',
  CLIENT_SIDE_FORBIDDEN: 'guide/troubleshoot#client_side_forbidden',
  RUNTIME_UNSUPPORTED: 'guide/troubleshoot#runtime_unsupported',
  nestjs: 'guide/bootstrap#in-a-framework',
  ky: 'guide/bootstrap#ky',
  scope: 'guide/options#scope',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'guide/troubleshoot#an-untrusted-ca',
  'clock skew': 'guide/doctor#clock-off',
  pausedUntil: 'guide/rate-policy',
  'calls hang': 'guide/troubleshoot',
  'grafana dashboard': 'guide/metrics',
  TokenlaneNoLiveToken: 'packages/otel#tokenlanenolivetoken',
  'invalidate token': 'guide/troubleshoot',
  'many tenants': 'guide/tenants',
  resend: 'guide/options#resend',
  'secret in environment variable': 'guide/rotate-secret',
  'share token between pods': 'guide/fleet',
  'token expired': 'guide/token-life',
  unauthorized: 'guide/troubleshoot',
  'self signed certificate': 'guide/troubleshoot#an-untrusted-ca',
  vault: 'guide/secret-managers',
  'client certificate': 'guide/workload-identity#entra-id-with-a-certificate',
  'mock tokens in unit tests': 'guide/test-your-app',
  'which requests are queued': 'guide/troubleshoot',
  'priority of a call': 'guide/rate-policy#priority',
  'upgrade from axios interceptor': 'guide/coming-from',
  'certificate expired': 'guide/doctor#certificate-expired',
  'issuer is down': 'guide/troubleshoot#token_request_failed',
  '502 bad gateway': 'guide/troubleshoot#token_request_failed',
  'server sent events': 'guide/streams',
  'shut down cleanly': 'guide/bootstrap#start-and-stop',
  ENOTFOUND: 'guide/troubleshoot#token_request_failed',
  'max concurrent requests': 'guide/rate-policy',
  'add a custom client': 'guide/write-an-adapter',
  'token in logs': 'security#tokens-in-logs-and-debugging-tools',
  'too many requests': 'guide/rate-policy#retry-when-the-api-responds-429-too-many-requests',
  'get started': 'guide/bootstrap',
  'getting started': 'guide/bootstrap',
  maxWait: 'guide/options',
  maxQueued: 'guide/options#maxqueued',
  requestTimeout: 'guide/options#requesttimeout',
  allowInsecureLoopback: 'guide/options#allowinsecureloopback',
  assertionAudience: 'guide/options#assertionaudience',
  longestPause: 'guide/options#longestpause',
  'wrong-secret': 'guide/doctor#wrong-secret',
  'secret-refused': 'guide/doctor#secret-refused',
  'request-refused': 'guide/doctor#request-refused',
  'p-queue': 'benchmarks',
  'p-throttle': 'benchmarks',
  'Issuer "general" (https://auth.example.com/public/security/v1/token) refused: invalid_client (status 401): check the client id and secret in `credentials`':
    'guide/troubleshoot#token_request_refused',
  'Cannot get token from https://auth.example.com/token: the issuer refused the client (invalid_client)':
    'guide/troubleshoot#token_request_refused',
  "Cannot send call to https://api.example.com: it waited too long; `maxWait` in the API's rate policy is 15000 ms":
    'guide/troubleshoot#queue_timeout',
  "Cannot queue call to https://api.example.com: the queue is full; `maxQueued` in the API's rate policy is 1000":
    'guide/troubleshoot#queue_full',
  'Cannot use tokens: the token manager was closed': 'guide/troubleshoot#manager_closed',
  'Cannot send call: this process allows TLS below 1.2 (see node_modules/@tokenlane/core/troubleshoot.md#insecure_transport)':
    'guide/troubleshoot#insecure_transport',
  private_key_jwt: 'guide/bootstrap#sign-with-a-private-key-private_key_jwt',
  'gave up after 13 tries': 'guide/troubleshoot#token_request_failed',
  NOAUTH: 'guide/troubleshoot#redis-is-down',
  WRONGPASS: 'guide/troubleshoot#redis-is-down',
  'multiple pods': 'guide/fleet',
  pods: 'guide/fleet',
  'empty in about': 'guide/troubleshoot#log-lines',
  tokenlane_token_live: 'packages/otel#metrics',
  tokenlane_queue_length: 'packages/otel#metrics',
  'tokenlane.queue.length': 'packages/otel#metrics',
  tokenlane_secret_days_left: 'packages/otel#metrics',
  tokenlane_token_request_duration_seconds_count: 'packages/otel#metrics',
  tokenlane_calls_total: 'packages/otel#metrics',
  performance: 'benchmarks',
  bun: 'runtimes',
  deno: 'runtimes',
  'works with bun': 'runtimes',
  fakeTokens: 'guide/test-your-app#without-an-issuer',
  startSandbox: 'guide/sandbox#what-a-sandbox-has',
  getToken: 'guide/token-life#a-token-without-a-call',
  'error.type': 'guide/metrics',
  'wrong secret': 'guide/doctor#wrong-secret',
  NODE_DEBUG: 'guide/troubleshoot#log-lines',
  'token store: failed': 'guide/troubleshoot#redis-is-down',
  'https://api.example.com/: paused for 1000 ms after status 200; its limit is used up':
    'guide/troubleshoot#a-call-gets-a-429',
  'TOKENLANE 4711: token store: failed (ECONNREFUSED); this process requests its own tokens':
    'guide/troubleshoot#redis-is-down',
  'https://api.example.com/: the shared rate budget failed (timeout); this process uses only its own share':
    'guide/troubleshoot#redis-is-down',
  'https://api.example.com/: its headers report 10 in 1.0 s; configured: 20 in 1.0 s':
    'guide/troubleshoot#log-lines',
  'TOKENLANE 4711: general: no new token (TOKEN_REQUEST_FAILED, try 3); retrying in 1.3 s at the earliest; calls use the old token until it expires':
    'guide/troubleshoot#token_request_failed',
  'https://api.example.com/: the API refused a token from general; renewing it':
    'guide/troubleshoot#log-lines',
  'https://api.example.com/: the API also refuses new tokens from general: check apis[0].issuer, `scope`, `parameters` and what this client may call':
    'guide/troubleshoot#log-lines',
  'https://api.example.com/: tokens from general are accepted, then refused within 1 s: if other processes use this client, share its token (`store`)':
    'guide/troubleshoot#log-lines',
  'https://api.example.com/v2/: matches no API and gets no token; APIs on the same origin: https://api.example.com/':
    'guide/troubleshoot#log-lines',
  'https://api.example.com/: paused for 1.0 s after status 429; the API allows only about 10 in 1.0 s (`ratePolicy`: 30 in 1.0 s), or something else uses the quota':
    'guide/troubleshoot#a-call-gets-a-429',
  "https://api.example.com/: with slow responses, waiting calls get 0.43 of the quota; `accounting: 'learned'` in its ratePolicy gives more":
    'guide/troubleshoot#log-lines',
  'general: rotate the secret of client client-1: 5 days left': 'guide/troubleshoot#the-secret-expires-soon',
  'https://api.example.com/: call queued, 1000 in the queue, empty in about 100.0 s':
    'guide/troubleshoot#log-lines',
  'https://api.example.com/: call sent after 40 ms, 1 in the queue': 'guide/troubleshoot#log-lines',
  'https://api.example.com/: axios call finished after 80 ms with status 401, sent 2 times (rejected)':
    'guide/troubleshoot#a-call-gets-a-401-although-it-has-a-token',
  'Cannot obtain token: issuer "general" (https://auth.example.com/token) did not respond in 5000 ms; gave up after 2 tries in 26000 ms: the next one would come too late for `maxWait` (15000 ms)':
    'guide/troubleshoot#token_request_timeout',
  'Cannot obtain token: issuer "general" (https://auth.example.com/token) sent no token (status 200, text/plain)':
    'guide/troubleshoot#token_response_invalid',
  'Cannot read credentials: the file /run/secrets/general.json is not JSON':
    'guide/troubleshoot#credentials_unavailable',
  'Cannot create token manager: `issuers.general.renewBefore` is -1; allowed: a finite number of milliseconds, 0 or more':
    'guide/options#renewbefore',
  'unable to get local issuer certificate': 'guide/troubleshoot#an-untrusted-ca',
  'no new token': 'guide/troubleshoot#log-lines',
  'how do i get the raw token': 'guide/token-life#a-token-without-a-call',
  'over-limit': 'guide/sandbox#verdict',
  docker: 'guide/rotate-secret#where-the-credentials-come-from',
  inavlid_client: 'guide/troubleshoot#token_request_refused',
  'azure ad': 'guide/providers#entra-id',
  'token bucket': 'guide/rate-policy#what-is-guaranteed',
  serverless: 'guide/frequent-starts',
  'TypeError: fetch failed': 'guide/troubleshoot#troubleshoot-by-error-code',
  'AxiosError: Request failed with status code 401':
    'guide/troubleshoot#a-call-gets-a-401-although-it-has-a-token',
  'HTTPError: Response code 429 (Too Many Requests)': 'guide/troubleshoot#a-call-gets-a-429',
  'connect ECONNREFUSED 127.0.0.1:6379': 'guide/troubleshoot#redis-is-down',
  'npx tokenlane doctor': 'guide/doctor#find-out-why-calls-fail',
  'npx tokenlane token': 'packages/cli#a-token-for-curl',
}
/** The pages that the search lists, in its order. */
const listed =
  "Array.from(document.querySelectorAll('#localsearch-list a'), (link) => new URL(link.href)).map(({ pathname, hash }) => pathname.replace(/^\\/|\\.html$/g, '') + hash)"

/** Gives the whole query at once: typed letters would bring results of their own. */
const typed = (query: string): string =>
  `Object.assign(document.querySelector('#localsearch-input'), { value: ${JSON.stringify(query)} }).dispatchEvent(new Event('input'))`

/** Returns one sentence for each query that does not lead to its page within the first five results, or as the first one. */
export async function lostSearches(page: Page, origin: string): Promise<string[]> {
  const lost: string[] = []
  await openSearch(page, origin)
  for (const [query, target] of Object.entries({ ...listedPages, ...firstPages })) {
    const found = await results(page, query)
    const sought = found.slice(0, query in firstPages ? 1 : 5)
    if (!sought.some((each) => each === target || each.split('#')[0] === target))
      lost.push(`the search for ${query} does not find ${target}, but ${found.slice(0, 5).join(', ')}`)
  }
  return lost
}

/** Prints the first five results of each query. */
export async function printSearches(page: Page, origin: string, queries: readonly string[]): Promise<void> {
  await openSearch(page, origin)
  for (const query of queries) console.log([query, ...(await results(page, query)).slice(0, 5)].join('\n  '))
}

async function results(page: Page, query: string): Promise<string[]> {
  await page.evaluate(typed(''))
  await page.waitForFunction(`${listed}.length === 0`)
  await page.evaluate(typed(query))
  await page.waitForFunction(`${listed}.length > 0 || document.querySelector('.no-results') !== null`)
  return (await page.evaluate(listed)) as string[]
}

/** Returns how long the first search of a visit takes, from the last letter to the first result, in milliseconds. */
export async function firstSearch(page: Page, origin: string): Promise<number> {
  await openSearch(page, origin)
  const started = performance.now()
  await page.evaluate(typed('keycloak'))
  await page.waitForFunction(`${listed}.length > 0`)
  return performance.now() - started
}

async function openSearch(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/index.html`, { waitUntil: 'networkidle0' })
  // the site remembers the last query, and would list its results
  await page.evaluate('sessionStorage.clear()')
  await page.click('.DocSearch-Button')
  await page.waitForSelector('#localsearch-input')
}
