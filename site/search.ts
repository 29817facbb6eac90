// What the search finds: which words of a page, in which order, and words that readers use and the pages do not.

/** Words for a section, by its page and its heading; the page itself does not show them. */
const alsoFound: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'guide/proxy.md': { 'Behind a proxy': 'EACCES, corporate proxy, firewall, HTTPS_PROXY' },
  'guide/rate-policy.md': {
    'Set a rate policy': 'rate limit, throttle, quota',
    'Retry: when the API responds 429 anyway': 'Too Many Requests, retry, backoff',
    "Waiting and your client's own limits": 'cancel a call, abort, AbortController, AbortSignal, deadline',
  },
  'guide/bootstrap.md': { 'Start and stop': 'graceful shutdown, SIGTERM, close, exit' },
  'guide/troubleshoot.md': {
    TOKEN_REQUEST_FAILED: 'DNS, ENOTFOUND, ECONNREFUSED, ETIMEDOUT, issuer down, unreachable',
    'A call gets a 401 although it has a token': '401 loop, endless 401s, Unauthorized, token rejected',
    'Calls are slow': 'latency, slow requests, hanging calls, stuck',
  },
  'guide/observe.md': { Logging: 'debug, log level' },
  'security.md': { 'What is defended': 'token in logs, secret in logs, leak, redaction' },
  'guide/redis.md': { 'Without Redis': 'Redis down, outage, unreachable' },
}

/**
 * Returns what the search knows of a page: of the reference its title, of the generated tables their headings. The rest of
 * them is most of the words of the site, and leads nobody to a page that says how.
 */
export function searchable(text: string, page: string): string {
  if (page.startsWith('reference/')) return /^# .+$/m.exec(text)?.[0] ?? ''
  if (/^(?:measurements|conformance|tls|exam|runtimes|benchmarks)/.test(page))
    return (text.match(/^#+ .+$/gm) ?? []).join('\n\n')
  // the index needs no colours in code
  let found = text.replaceAll(/^```\w+$/gm, '```')
  for (const [heading, words] of Object.entries(alsoFound[page] ?? {})) {
    const lines = found.split('\n')
    const index = lines.findIndex((line) => line.replace(/^#+ /, '') === heading)
    if (index < 0) throw new Error(`${page} has no heading "${heading}", for which site/search.ts has words`)
    found = lines.toSpliced(index + 1, 0, '', words, '').join('\n')
  }
  return found
}

/**
 * Returns the weight of a section: one that says how comes before one that lists, a provider's own page before those that
 * mention it, and for some words one section before all others. Runs in the browser, from its text: it cannot use what
 * stands outside of it.
 */
function rank(section: string, term: string): number {
  const answers: Readonly<Record<string, string>> = {
    logs: '/security#what-is-defended',
    many: '/guide/rate-policy#retry',
  }
  const answer = answers[term]
  if (answer !== undefined && section.replace('.html', '').startsWith(answer)) return 10
  if (/^\/(?:measurements|exam|conformance|changelog|bench|contributing|architecture)/.test(section))
    return 0.3
  if (/^\/(?:guide\/doctor|guide\/coming-from|guide\/sandbox|packages\/conformance)/.test(section)) return 0.5
  if (/^\/(?:support|rejections|runtimes|examples)/.test(section)) return 0.5
  if (/^\/guide\/(?:#|$)/.test(section)) return 0.5
  if (section.startsWith('/guide/options')) return 0.8
  return /^\/guide\/providers\/\w/.test(section) ? 1.6 : 1
}

/** Leaves out the words that every page has. Runs in the browser, too. */
function processTerm(term: string): string | null {
  const small = term.toLowerCase()
  return /^(?:a|an|and|are|can|do|does|for|how|i|in|is|it|my|not|of|on|or|the|to|too|what|when|why|with)$/.test(
    small,
  )
    ? null
    : small
}

/** Any word of a query may be missing: something near is better than nothing. */
export const searchOptions = { combineWith: 'OR', boostDocument: rank, processTerm } as const
