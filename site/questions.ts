// What a fresh reader types into the search, and the page that answers it: the first result must lead there.
import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

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
    'ERR_REQUIRE_ESM',
    'axios.create',
    'different scopes per call',
    'password grant',
  ],
  'guide/options': ['options', 'all options', 'dpop', 'environment variables', 'http localhost issuer'],
  'guide/token-life': [
    'token renewal',
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
    'retry on network error',
    'x-ratelimit-remaining',
    'axios timeout',
    'abort request',
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
  'guide/observe': ['logging', 'health check', 'status', 'debug', 'readiness probe', 'redact token in logs'],
  'guide/metrics': ['alerts', 'grafana', 'prometheus', 'datadog'],
  'guide/troubleshoot': [
    'ENOTFOUND',
    'invalid_client',
    'self signed certificate',
    'redis is down',
    'call gets a 401',
    'TOKEN_REQUEST_FAILED',
    'calls are slow',
    '403',
    'new token on every request',
    'unable to verify the first certificate',
    'browser',
    'authorization header missing',
    'certificate has expired',
    'ETIMEDOUT',
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

interface Result {
  readonly id: string
}
interface MiniSearch {
  loadJSON(json: string, options: object): { search(words: string): readonly Result[] }
}

/**
 * How much a section counts: pages that explain before those that show, list or belong to contributors, and a page before
 * its parts. The site sends this function to the browser as text, so that it uses nothing else of this file.
 */
export function weightOf(id: string, term: string, stored?: { readonly titles?: readonly string[] }): number {
  const isPage = stored?.titles?.length === 0
  // words that stand on every page say little about the one that is wanted
  const ofTerm = /^(?:calls?|apis?|an?|the|of|in|on|for|to|one|with|without)$/.test(term) ? 0.3 : 1
  if (/^\/(?:guide\/)?(?:index\.html)?(?:#|$)/.test(id)) return 0.3 * ofTerm
  if (isPage && /^\/examples\/\w/.test(id)) return 0.85 * ofTerm
  if (/^\/(?:reference|examples|changelog|contributing|architecture|packages\/conformance)\b/.test(id))
    return 0.3 * ofTerm
  if (id.startsWith('/guide/write-an-adapter.')) return ofTerm
  // findings, alerts and public APIs are found by their names
  if (!isPage && /^\/(?:guide\/(?:doctor|judge|metrics|public-policies|sandbox)\.|security\b)/.test(id))
    return 0.6 * ofTerm
  return (id.startsWith('/guide/') ? 1.5 : 1) * (isPage ? 1.5 : 1) * ofTerm
}

/** Returns a sentence for each question whose first result is another page. */
export async function unanswered(dist: string): Promise<string[]> {
  const [file = ''] = globSync('assets/chunks/@localSearchIndexroot*.js', { cwd: dist })
  const { default: json } = (await import(pathToFileURL(join(dist, file)).href)) as { default: string }
  // the search that the pages load
  const vitepress = createRequire(createRequire(import.meta.url).resolve('vitepress/package.json'))
  const { default: search } = (await import(pathToFileURL(vitepress.resolve('minisearch')).href)) as {
    default: MiniSearch
  }
  const index = search.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: {
      fuzzy: 0.2,
      prefix: true,
      boost: { title: 4, text: 2, titles: 1 },
      boostDocument: weightOf,
    },
  })
  return Object.entries(questions).flatMap(([page, each]) =>
    each.flatMap((question) => {
      const [first] = index.search(question)
      return first?.id.startsWith(`/${page}.html`)
        ? []
        : [`the search for "${question}" leads to ${first?.id}, not to ${page}`]
    }),
  )
}
