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
  ],
  'guide/options': ['options', 'all options'],
  'guide/token-life': ['token renewal', 'retry after 401', 'invalidate token'],
  'guide/providers': ['keycloak', 'azure', 'okta', 'AADSTS7000215'],
  'guide/rotate-secret': ['rotate secret', 'vault', 'secret expires'],
  'guide/workload-identity': ['kubernetes', 'workload identity'],
  'guide/rate-policy': ['rate limit', 'retry-after', 'priority', 'concurrency'],
  'guide/public-policies': ['github', 'shopify'],
  'guide/batch': ['batch', 'progress'],
  'guide/fleet': ['several processes', 'share token redis'],
  'guide/tenants': ['multi tenant'],
  'guide/streams': ['server-sent events', 'websocket', 'grpc'],
  'guide/mcp': ['mcp'],
  'guide/proxy': ['proxy', 'HTTPS_PROXY'],
  'guide/frequent-starts': ['next.js', 'lambda', 'cloudflare workers', 'serverless'],
  'guide/test-your-app': ['nock', 'msw', 'jest', 'fake timers', 'mock'],
  'guide/observe': ['logging', 'health check', 'status'],
  'guide/metrics': ['alerts', 'grafana'],
  'guide/troubleshoot': [
    'ENOTFOUND',
    'invalid_client',
    'self signed certificate',
    'redis is down',
    'too many requests',
    'call gets a 401',
    'TOKEN_REQUEST_FAILED',
    'calls are slow',
    '403',
  ],
  'guide/doctor': ['doctor', 'find out why calls fail'],
  'guide/coming-from': ['axios interceptors', 'msal', 'bottleneck', 'migrate'],
  'guide/write-an-adapter': ['write an adapter'],
  'guide/sandbox': ['scenarios', 'verdict'],
  'guide/judge': ['grade a client'],
  compare: ['benchmarks', 'compare'],
  support: ['node version', 'deno', 'tls versions'],
  'packages/got': ['tough-cookie'],
  'packages/undici': ['undici interceptor order'],
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
export function weightOf(
  id: string,
  _term: string,
  stored?: { readonly titles?: readonly string[] },
): number {
  const isPage = stored?.titles?.length === 0
  if (/^\/(?:guide\/)?(?:index\.html)?(?:#|$)/.test(id)) return 0.3
  if (/^\/(?:reference|examples|changelog|bench|contributing|security|architecture)\b/.test(id)) return 0.3
  // the findings of the doctor are found by their names
  if (!isPage && id.startsWith('/guide/doctor.')) return 0.6
  return (id.startsWith('/guide/') ? 1.5 : 1) * (isPage ? 1.5 : 1)
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
