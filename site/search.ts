// What the search finds: which words of a page, in which order, and words that readers use and the pages do not.

/** Words for a section, by its page and its heading; the page itself does not show them. A `=` makes one count like a title. */
const alsoFound: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'benchmarks.md': {
    Benchmarks: 'performance, speed, overhead',
    'How much of a quota is used': 'p-queue, p-throttle, p-limit',
  },
  'runtimes.md': { Runtimes: 'Bun, Deno, workerd' },
  'guide/proxy.md': { 'Behind a proxy': 'EACCES, corporate proxy, firewall, HTTPS_PROXY' },
  'guide/rate-policy.md': {
    'Set a rate policy': 'rate limit, throttle, quota',
    'Retry: when the API responds 429 Too Many Requests': 'too many calls, backoff',
    'When the API reports what remains': '=pausedUntil',
    "Waiting and your client's own limits": 'cancel a call, abort, AbortController, AbortSignal, deadline',
  },
  'guide/bootstrap.md': {
    Setup: 'get started, getting started',
    'Any other issuer': 'bundle size',
    'Start and stop': 'graceful shutdown, shut down, SIGTERM, close, exit',
  },
  'guide/troubleshoot.md': {
    TOKEN_REQUEST_FAILED:
      'DNS, ENOTFOUND, ECONNREFUSED, ETIMEDOUT, issuer down, unreachable, 500, 502, bad gateway, 503, Service Unavailable, status 503, 503 from the issuer, 504, UNABLE_TO_VERIFY_LEAF_SIGNATURE, self-signed certificate',
    TOKEN_REQUEST_TIMEOUT: 'timeout, timed out, slow issuer',
    QUEUE_FULL: "Cannot queue call: the queue is full; maxQueued in the API's rate policy",
    QUEUE_TIMEOUT:
      "timeout, timed out, waiting too long, Cannot send call: it waited too long, it waited too long, it must wait at least; maxWait in the API's rate policy; maxWait in its rate policy is ms",
    MANAGER_CLOSED: 'Cannot use: the token manager was closed',
    'A call gets a 401 although it has a token': '401 loop, endless 401s, Unauthorized, token rejected',
    'A call gets a 429':
      'paused for after status 429; its limit is used up, paused for after status 200; its limit is used up',
    'Log lines': 'its headers report in; configured in, headers report; configured',
    'Calls are slow': 'latency, slow requests, hanging calls, stuck, calls hang',
  },
  'guide/observe.md': {
    Logs: 'access, debug, level',
    'Status, and a health check endpoint': 'status page',
  },
  'guide/test-your-app.md': { 'Test your app': 'unit test, mock' },
  'guide/write-an-adapter.md': { 'Write an adapter': 'add a custom client, another client' },
  'guide/fleet.md': { 'Several processes': 'many processes, multiple pods, instances, share tokens' },
  'guide/token-life.md': { 'Calls that must not be sent twice': 'idempotent, idempotency, disable retries' },
  'security.md': { 'Tokens in logs and debugging tools': 'secret in logs, log files, leak, redaction' },
  'guide/redis.md': { 'Without Redis': 'Redis down, outage, unreachable' },
}

/**
 * Returns the part of a page that is indexed: only the titles of the reference, and the headings of generated tables. Their
 * other words would crowd out the pages that explain something.
 */
export function searchable(text: string, page: string): string {
  if (page.startsWith('reference/')) return /^# .+$/m.exec(text)?.[0] ?? ''
  let found = /^(?:measurements|conformance|tls|exam|runtimes|benchmarks)/.test(page)
    ? (text.match(/^#+ .+$/gm) ?? []).join('\n\n')
    : // the index needs no colours in code
      text
        .replaceAll(/^```\w+$/gm, '```')
        .replaceAll(
          /(?<=^#.+\n\n)`[^`\n]+`(?:(?:,| or| and) `[^`\n]+`)*/gm,
          (codes) => `${subjects(codes)}\n\n${codes}`,
        )
  for (const [heading, words] of Object.entries(alsoFound[page] ?? {})) {
    const lines = found.split('\n')
    const index = lines.findIndex((line) => line.replace(/^#+ /, '') === heading)
    if (index < 0) throw new Error(`${page} has no heading "${heading}", for which site/search.ts has words`)
    found = lines.toSpliced(index + 1, 0, '', words, '').join('\n')
  }
  return found
}

/** Returns the words for code that a section begins with, and thus explains: each counts like a title. */
function subjects(codes: string): string {
  const names = Array.from(codes.matchAll(/`([^`=(]+)[^`]*`/g), ([, name = '']) => name)
  return names.map((name) => `=${name.match(/\w+/g)?.join('-') ?? ''}`).join(' ')
}

/**
 * Returns the weight of a section: one that says how comes before one that lists, and a page that the word is the name of
 * before those that mention it. Runs in the browser, from its text: it cannot use what stands outside of it.
 */
function rank(section: string, term: string): number {
  // the title that a query is says all; several pages may list an option
  if (term.startsWith('='))
    return section.startsWith('/guide/options') ? 9 : section.startsWith('/guide/') ? 4 : 0
  const named = section.split('#')[0]?.split(/[/.-]/).includes(term) === true ? 3 : 1
  if (/^\/(?:measurements|exam|conformance|changelog|tls|bench\b|contributing|architecture)/.test(section))
    return 0.3 * named
  if (/^\/(?:guide\/(?:doctor|coming-from|sandbox|judge)|packages|reference)/.test(section))
    return 0.5 * named
  if (/^\/(?:rejections|examples|packages)/.test(section)) return 0.6 * named
  if (/^\/(?:guide\/)?(?:#|index|$)/.test(section)) return 0.5
  if (/^\/guide\/providers\/\w/.test(section)) return 0.7 * named
  if (/^\/(?:guide\/troubleshoot|runtimes|benchmarks)/.test(section)) return 1.3 * named
  return (section.startsWith('/guide/options') ? 0.8 : 1) * named
}

/** Leaves out the words that every page has, and the `s` of plurals. Runs in the browser, too. */
function processTerm(term: string): string | null {
  const small = term.toLowerCase()
  if (
    /^(?:a|add|an|and|are|at|be|between|can|do|does|for|from|has|how|i|in|is|it|long|me|my|not|of|on|or|s|show|the|to|up|what|when|which|why|with|work|works|\d)$/.test(
      small,
    )
  )
    return null
  return small.length < 4 ? small : small.replace(/(?<=ss|x|ch|sh)es$|(?<=[^_sui])s$/, '')
}

/**
 * What a text is indexed by: an error code counts as a whole, the name of a parameter by its parts too. A title also counts
 * as a whole, as its words behind a `=`. Runs in the browser, too.
 */
function tokenize(text: string, field?: string): string[] {
  const words = text.split(/[^\p{L}\p{N}_]+/u)
  return [
    ...words,
    ...(text.match(/\w+(?:-\w+)+/g) ?? []),
    ...words.flatMap((word) => (/[a-z]_/.test(word) ? word.split('_') : [])),
    ...(field === 'title'
      ? [`=${words.filter((word) => word !== '').join('-')}`]
      : (text.match(/(?<!\S)=[\w-]+/g) ?? [])),
  ].filter((word) => word !== '')
}

/**
 * A query for a code asks for that code, not for its parts, and one for a title asks for that title. A message ends with a
 * link that names its code. Of another one, what it quotes, and its URLs, are the reader's own. A metric of Prometheus has
 * `_` for `.`, and endings.
 */
function tokenizeQuery(query: string): string[] {
  const code = /troubleshoot\.md#(\w+)/.exec(query)?.[1]
  if (code !== undefined) return [code, `=${code}`]
  const rest = query.replaceAll(/https?:\S+|"[^"]*"|\bTOKENLANE \d+:/g, ' ')
  const text = (/\w/.test(rest) ? rest : query).replaceAll(/\btokenlane_\w+/g, (metric) =>
    metric.replace(/(?:_(?:seconds|days|ratio|total|bucket|count|sum))+$/, '').replaceAll('_', '.'),
  )
  return [
    ...text.split(/[^\p{L}\p{N}_]+/u),
    ...(text.match(/\w+(?:-\w+)+/g) ?? []),
    `=${(text.replace(/ \(\w+\);.*/s, '').match(/[\p{L}\p{N}_]+/gu) ?? []).join('-')}`,
  ].filter((word) => word !== '')
}

/** What the whole site is about says little about what is sought. A code says the most. */
function boostTerm(term: string): number {
  if (term.includes('_')) return 3
  return /^(?:call|client|request|api|token)$/.test(term) ? 0.3 : 1
}

/** Of long words a part may be mistyped. */
function fuzzy(term: string): number | false {
  return term.length > 5 && !/[_=]/.test(term) ? 0.2 : false
}

/** A title is asked for as a whole. */
function prefix(term: string): boolean {
  return !term.startsWith('=')
}

export const indexOptions = { tokenize, processTerm } as const

/** Any word of a query may be missing: something near is better than nothing. */
export const searchOptions = {
  combineWith: 'OR',
  boostDocument: rank,
  boost: { title: 3, titles: 1.5, text: 2 },
  boostTerm,
  bm25: { k: 1.2, b: 0.4, d: 0.5 },
  weights: { fuzzy: 0.1, prefix: 0.3 },
  fuzzy,
  prefix,
  tokenize: tokenizeQuery,
} as const
