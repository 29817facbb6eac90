// What readers looked for and did not find: the search of the site must lead to it.
import type { Page } from 'puppeteer-core'

/** Whose page is among the first five results. */
const listedPages: Readonly<Record<string, string>> = {
  azure: 'guide/providers/entra-id',
  'next.js': 'guide/frequent-starts',
  'axios 1.13': 'packages/axios',
  'self-signed': 'guide/troubleshoot',
  invalid_client: 'guide/providers/keycloak',
  dns: 'guide/troubleshoot',
}
/** Whose page is the first result: readers take it for the answer. */
const firstPages: Readonly<Record<string, string>> = {
  'EACCES proxy': 'guide/proxy',
  '401 loop': 'guide/troubleshoot',
  'token in logs': 'security',
  'rotate secret': 'guide/rotate-secret',
  '429': 'guide/rate-policy',
  'too many requests': 'guide/rate-policy',
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
  keycloak: 'guide/providers/keycloak',
  okta: 'guide/providers/okta',
  auth0: 'guide/providers/auth0',
  entra: 'guide/providers/entra-id',
  cognito: 'guide/providers/cognito',
  ping: 'guide/providers/ping',
  mcp: 'guide/mcp',
  bottleneck: 'guide/coming-from-bottleneck',
  websocket: 'guide/streams',
  grpc: 'guide/streams',
  install: 'guide/bootstrap',
  logging: 'guide/observe',
  mtls: 'guide/bootstrap',
  commonjs: 'guide/bootstrap',
}
/** The pages that the search lists, in its order. */
const listed =
  "Array.from(document.querySelectorAll('#localsearch-list a'), (link) => new URL(link.href).pathname.replace(/^\\/|\\.html$/g, ''))"

/** Gives the whole query at once: typed letters would bring results of their own. */
const typed = (query: string): string =>
  `Object.assign(document.querySelector('#localsearch-input'), { value: ${JSON.stringify(query)} }).dispatchEvent(new Event('input'))`

/** Returns one sentence for each query that does not lead to its page within the first five results, or as the first one. */
export async function lostSearches(page: Page, origin: string): Promise<string[]> {
  const lost: string[] = []
  for (const [query, target] of Object.entries({ ...listedPages, ...firstPages })) {
    await page.goto(`${origin}/index.html`, { waitUntil: 'networkidle0' })
    // the site remembers the last query, and would list its results
    await page.evaluate('sessionStorage.clear()')
    await page.click('.DocSearch-Button')
    await page.waitForSelector('#localsearch-input')
    await page.evaluate(typed(query))
    await page.waitForFunction(`${listed}.length > 0 || document.querySelector('.no-results') !== null`)
    const found = (await page.evaluate(listed)) as string[]
    if (!found.slice(0, query in firstPages ? 1 : 5).includes(target))
      lost.push(`the search for ${query} does not find ${target}, but ${found.slice(0, 5).join(', ')}`)
  }
  return lost
}

/** Returns how long the first search of a visit takes, from the last letter to the first result, in milliseconds. */
export async function firstSearch(page: Page, origin: string): Promise<number> {
  await page.goto(`${origin}/index.html`, { waitUntil: 'networkidle0' })
  await page.evaluate('sessionStorage.clear()')
  await page.click('.DocSearch-Button')
  await page.waitForSelector('#localsearch-input')
  const started = performance.now()
  await page.evaluate(typed('keycloak'))
  await page.waitForFunction(`${listed}.length > 0`)
  return performance.now() - started
}
