// Long: needs the built site, which `pnpm --dir site build` makes.
import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { searchOptions } from './search.ts'

/** Questions in the words of issues, reviews and public threads, by the page that answers them. */
const questions: Readonly<Record<string, readonly string[]>> = {
  'guide/bootstrap': [
    'install',
    'several apis',
    'client_secret_basic',
    'private key jwt',
    'mutual tls',
    'audience',
    'commonjs require',
    'typescript cannot find module',
    'client credentials grant',
    'multiple scopes',
    'client certificate',
    'p12 file',
    'x-api-key header',
    'graphql',
    'openapi generated client',
    'graceful shutdown SIGTERM',
    'graceful shutdown',
    'shutdown',
    'custom header instead of Authorization',
    'ERR_REQUIRE_ESM',
    'axios.create',
    'docker',
    'SIGTERM in a container',
    'different scopes per call',
    'password grant',
  ],
  'guide/options': ['options', 'all options', 'dpop', 'environment variables', 'http localhost issuer'],
  'guide/token-life': [
    'token renewal',
    'is the token cached on disk',
    'token cached on disk',
    'retry after 401',
    'invalidate token',
    'cache access token',
    'concurrent requests single token request',
    'force new token',
    'expires_in missing',
    'infinite loop 401',
    'skip authentication for one request',
  ],
  'guide/providers': ['keycloak', 'azure', 'okta', 'AADSTS7000215'],
  'guide/rotate-secret': ['rotate secret', 'vault', 'secret expires', 'aws secrets manager'],
  'guide/workload-identity': ['kubernetes', 'workload identity', 'x5t thumbprint'],
  'guide/rate-policy': [
    'rate limit',
    'retry-after',
    'priority',
    'concurrency',
    'too many requests',
    'throttle requests',
    'requests per second',
    'retry 503',
    'retry on 5xx',
    'retry on network error',
    'x-ratelimit-remaining',
    'axios timeout',
    'abort request',
    'cancel a request',
  ],
  'guide/public-policies': ['github', 'shopify', 'salesforce limit'],
  'guide/batch': ['batch', 'progress', 'pagination', 'memory usage'],
  'guide/fleet': ['several processes', 'share token redis'],
  'guide/tenants': ['multi tenant', 'token per customer'],
  'guide/streams': ['server-sent events', 'websocket', 'grpc'],
  'guide/mcp': ['mcp'],
  'guide/proxy': ['proxy', 'HTTPS_PROXY', 'socks proxy'],
  'guide/frequent-starts': ['next.js', 'cloudflare workers', 'serverless', 'vercel', 'pm2 cluster workers'],
  'guide/test-your-app': ['nock', 'msw', 'jest', 'fake timers', 'mock', 'vitest', 'unit test'],
  'guide/observe': [
    'logging',
    'how do I log',
    'log requests',
    'log token requests',
    'health check',
    'status',
    'debug',
    'readiness probe',
    'redact token in logs',
  ],
  'guide/metrics': ['alerts', 'grafana', 'prometheus', 'datadog', 'datadog tracing'],
  'guide/troubleshoot': [
    'ENOTFOUND',
    'invalid_client',
    'self signed certificate',
    'redis is down',
    'call gets a 401',
    'issuer is up again',
    'TOKEN_REQUEST_FAILED',
    'calls are slow',
    '403',
    'new token on every request',
    'unable to verify the first certificate',
    'browser',
    'authorization header missing',
    'certificate has expired',
    'process does not exit',
    'ETIMEDOUT',
    'timeout',
    'request timeout',
  ],
  'guide/doctor': ['doctor', 'find out why calls fail'],
  'guide/coming-from': ['axios interceptors', 'msal', 'bottleneck', 'migrate', 'refresh token'],
  'guide/write-an-adapter': ['write an adapter'],
  'guide/sandbox': ['scenarios', 'verdict'],
  'guide/judge': ['grade a client'],
  compare: ['benchmarks', 'compare'],
  support: ['node version', 'deno', 'tls versions', 'breaking changes', 'bun'],
  'packages/got': ['tough-cookie'],
  'packages/undici': ['undici interceptor order'],
  'examples/nestjs': ['nestjs'],
  'examples/lambda': ['lambda'],
  'examples/express': ['express'],
  'packages/cli': ['print token curl', 'kubectl'],
  'packages/fetch': ['openai'],
}

interface MiniSearch {
  loadJSON(json: string, options: object): { search(words: string): readonly { readonly id: string }[] }
}

/** The search that the pages load, with what VitePress adds to the options. */
async function siteSearch(): Promise<ReturnType<MiniSearch['loadJSON']>> {
  const [file] = globSync('dist/assets/chunks/@localSearchIndexroot*.js', {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
  if (file === undefined) throw new Error('`pnpm --dir site build` makes the index of the search')
  const { default: json } = (await import(new URL(file, import.meta.url).href)) as { default: string }
  const vitepress = createRequire(createRequire(import.meta.url).resolve('vitepress/package.json'))
  const { default: search } = (await import(pathToFileURL(vitepress.resolve('minisearch')).href)) as {
    default: MiniSearch
  }
  return search.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: { prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...searchOptions },
  })
}

const index = await siteSearch()

test.each(Object.entries(questions).flatMap(([page, each]) => each.map((words) => [words, page])))(
  'the first result for "%s" is on %s',
  (words, page) => {
    expect(index.search(words)[0]?.id).toMatch(new RegExp(`^/${page}\\.html`))
  },
)
