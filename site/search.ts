// What the search finds: which words of a page, in which order, and words that readers use and the pages do not.

/** Words for a section, by its page and its heading; the page itself does not show them. What is in backticks counts like a title. */
const alsoFound: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'benchmarks.md': {
    Benchmarks: 'performance, speed, overhead',
    'How much of a quota is used': 'p-queue, p-throttle, p-limit',
  },
  'index.md': {
    'When not to use it': '`refresh token`, `authorization code`, `password grant`, login, passport',
  },
  'runtimes.md': { Runtimes: 'Bun, Deno, workerd', 'Next.js': 'app router, route handler' },
  'guide/proxy.md': { 'Behind a proxy': 'EACCES, corporate proxy, firewall, HTTPS_PROXY' },
  'guide/rate-policy.md': {
    'Set a rate policy': 'rate limit, throttle, throughput, quota, requests per second, requests per minute',
    'Retry: when the API responds 429 Too Many Requests': '`Retry-After`, too many calls, backoff',
    'When the API reports what remains': '`pausedUntil`',
    'The options': 'semaphore',
    'What is guaranteed': '`token bucket`, `leaky bucket`, `sliding window`',
    'Change the policy at run time': 'change rate limit at runtime, without a restart',
    "Waiting and your client's own limits": 'cancel a call, abort, AbortController, AbortSignal, deadline',
  },
  'guide/bootstrap.md': {
    Setup: 'get started, getting started',
    'Any other issuer': 'bundle size',
    'Start and stop': 'graceful shutdown, shut down, SIGTERM, close, exit',
  },
  'guide/troubleshoot.md': {
    'Troubleshoot by error code':
      'troubleshooting, `fetch failed`, `TypeError: fetch failed`, `read ECONNRESET`',
    INVALID_OPTIONS: '`options are invalid`, `is not an option`',
    INSECURE_TRANSPORT:
      '`is an http`, `unsafe for secrets and tokens`, `this process allows TLS below`, `does not support TLS`, `TLSv1.2 or later`',
    CREDENTIALS_UNAVAILABLE:
      '`Cannot read credentials`, `no credentials for issuer`, `Missing environment variable`',
    TOKEN_REQUEST_REFUSED:
      '`issuer refused`, `no OAuth error`, `check the client id and secret`, `Client authentication failed`, error_description',
    TOKEN_REQUEST_FAILED:
      "`500`, `502`, `503`, `504`, `issuer down`, `issuer is down`, DNS, ENOTFOUND, ECONNREFUSED, ETIMEDOUT, unreachable, bad gateway, Service Unavailable, socket hang up, `write EPROTO`, EPROTO, TLS_ALERT_CERTIFICATE_EXPIRED, ERR_SSL_TLSV1_ALERT_UNKNOWN_CA, `does not match certificate's altnames`, circuit breaker",
    'An untrusted CA':
      '`self-signed`, `self-signed certificate`, `self-signed certificate in certificate chain`, `unable to get local issuer certificate`, `unable to verify the first certificate`',
    TOKEN_REQUEST_TIMEOUT:
      '`issuer did not respond`, `has not responded to the process`, `sent a token that has expired`, `timeout`, `timed out`, timeout, slow issuer, UND_ERR_CONNECT_TIMEOUT, UND_ERR_HEADERS_TIMEOUT',
    TOKEN_RESPONSE_INVALID: "`sent no token`, `sent a token response`, `publishes another issuer's metadata`",
    QUEUE_FULL: '`the queue is full`, `queue is full`, `queue full`',
    QUEUE_TIMEOUT: '`it waited too long`, `it must wait at least`, timeout, timed out, waiting too long',
    MANAGER_CLOSED: '`the token manager was closed`',
    CLIENT_SIDE_FORBIDDEN: '`a browser cannot keep a client secret`',
    RUNTIME_UNSUPPORTED: '`edge runtimes cannot`, `edge runtimes allow`, `is too old`',
    'A call gets a 401 although it has a token':
      '`401`, `with status 401`, `status code 401`, `Response code 401`, 401 loop, endless 401s, Unauthorized, token rejected, invalid_token',
    'A call gets a 403': '`with status 403`, `status code 403`, `Response code 403`, insufficient_scope',
    'A call gets a 429':
      '`with status 429`, `status code 429`, `Response code 429`, `paused for`, `after status`, `its limit is used up`',
    'Log lines': '`call finished after`',
    'Calls are slow':
      'latency, slow requests, hanging calls, stuck, calls hang, queue grows, growing queue, why is a call waiting, `requests are queued`',
    'The secret expires soon': '`rotate the secret of client`, `now uses different credentials`',
    'Redis is down':
      '`token store failed`, `token store works again`, `the shared rate budget failed`, `the rate budget is shared again`, `NOAUTH Authentication required`, `READONLY You can`, `OOM command not allowed`, `127.0.0.1:6379`, MaxRetriesPerRequestError',
  },
  'guide/observe.md': {
    Logs: 'access, debug, level',
    'Status and a health check endpoint': 'status page',
  },
  'guide/test-your-app.md': { 'Test your app': 'unit test, mock', 'What to try': 'simulate an outage' },
  'guide/judge.md': { 'In GitHub Actions': 'fail CI on errors' },
  'guide/write-an-adapter.md': { 'Write an adapter': 'add a custom client, another client' },
  'guide/fleet.md': {
    'Several processes': 'containers, many processes, multiple pods, instances, share tokens',
  },
  'guide/metrics.md': {
    'Metrics, traces and alerts': 'Datadog, New Relic',
    'When an alert wakes you': '`error.type`',
  },
  'guide/doctor.md': { 'Find out why calls fail': '`npx tokenlane doctor`, `tokenlane doctor`' },
  'packages/cli.md': { 'A token, for curl': '`tokenlane token`', 'A call, step by step': '`tokenlane call`' },
  'guide/token-life.md': {
    Renewal: 'cache, cached',
    'After a 401': '`401 retry`, `retry after 401`',
    'Calls that must not be sent twice': 'idempotent, idempotency, disable retries, retry POST, upload',
    'A token without a call': 'get a token, raw token, bearer token, `getAccessToken`, Authorization header',
  },
  'guide/frequent-starts.md': { 'When processes start often': 'serverless' },
  'guide/rotate-secret.md': { 'Where the credentials come from': 'Docker, container' },
  'guide/providers.md': {
    'Entra ID': '`Azure AD`, Azure Active Directory',
    Ping: '`Ping Identity`, PingOne, PingFederate',
  },
  'security.md': {
    Reporting: 'CVE, disclosure',
    'Tokens in logs and debugging tools': 'secret in logs, log files, leak, redaction',
  },
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
        .replaceAll(/^- \*\*(`[^`]+`)\*\*/gm, (item, code: string) => `${item} ${subjects(code)}`)
        // a single word, as options are, does not say what its row is about
        .replaceAll(
          /^\| (?!option |-)([^|\n]*[^|\s])/gm,
          (cell, head: string) => `${cell} ${subjects(head).replaceAll(/=\w*(?!\S)/g, '')}`,
        )
  for (const [heading, words] of Object.entries(alsoFound[page] ?? {})) {
    const lines = found.split('\n')
    const index = lines.findIndex((line) => line.replace(/^#+ /, '') === heading)
    if (index < 0) throw new Error(`${page} has no heading "${heading}", for which site/search.ts has words`)
    const more = words.replaceAll(/`[^`]+`/g, subjects)
    found = lines.toSpliced(index + 1, 0, '', more, '').join('\n')
  }
  return found
}

/**
 * Returns the words for what a section, a row or an item begins with, and thus explains: each counts like a title. A metric
 * is spelled with dots alone, since Prometheus has only one of `.` and `_`.
 */
function subjects(text: string): string {
  const names = text.split(/…|(?:,| or| and) (?=`)/).map((name) => name.replace(/[(=].*/, ''))
  return names
    .map((name) => `=${name.match(/\w+(?:\.\w+)*/g)?.join('-') ?? ''}`)
    .map((word) => (word.startsWith('=tokenlane.') ? word.replaceAll('_', '.') : word))
    .join(' ')
}

/**
 * Returns the weight of a section: one that says how comes before one that lists, and a page that the word is the name of
 * before those that mention it. Runs in the browser, from its text: it cannot use what stands outside of it.
 */
function rank(section: string, term: string): number {
  // what a query quotes says all; several pages may list an option
  if (term.startsWith('=')) {
    if (section.startsWith('/guide/options') && !term.includes('-')) return 9
    if (/^\/(?:#|guide\/(?:coming-from|init|judge|providers|sandbox)|packages\/)/.test(section)) return 2
    return section.startsWith('/guide/') ? 4 : 0
  }
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
    /^(?:a|add|an|and|are|at|be|between|can|do|does|for|from|gets?|getting|has|how|i|in|is|it|long|me|my|not|of|on|or|s|show|the|to|up|what|when|which|why|with|work|works|\d)$/.test(
      small,
    )
  )
    return null
  return small.length < 4 ? small : small.replace(/(?<=ss|x|ch|sh)es$|(?<=[^_sui])s$/, '')
}

/**
 * What a text is indexed by: an error code counts as a whole, the name of a parameter by its parts too. A title also counts
 * as a whole, as its words behind a `=`, and so does what a text says like that. Runs in the browser, too.
 */
function tokenize(text: string, field?: string): string[] {
  if (field === 'said') return text.match(/(?<!\S)=[\w.-]+/g) ?? []
  const plain = text.replaceAll(/(?<!\S)=[\w.-]+/g, '')
  const words = plain.split(/[^\p{L}\p{N}_]+/u)
  return [
    ...words,
    ...(plain.match(/\w+(?:-\w+)+/g) ?? []),
    ...words.flatMap((word) => (/[a-z]_/.test(word) ? word.split('_') : [])),
    ...(field === 'title'
      ? [`=${(text.match(/[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*/gu) ?? []).join('-')}`]
      : []),
  ].filter((word) => word !== '')
}

/** Where a field of the index is in a section. Runs in the browser, too. */
function extractField(section: Readonly<Record<string, unknown>>, field: string): unknown {
  return section[field === 'said' ? 'text' : field]
}

/**
 * A query for a code asks for that code, not for its parts, and one with a title in it asks for that title. A message ends
 * with a link that names its code, and says what an option allows. Of another one, what it quotes, and its URLs, are the
 * reader's own. A metric of Prometheus has `_` for `.`, and endings. Runs in the browser, too.
 */
function tokenizeQuery(query: string): string[] {
  const code = /troubleshoot\.md#(\w+)/.exec(query)?.[1]
  if (code !== undefined) return [code, `=${code}`]
  const option = /(\w+)(?:\(\)|\[\d+\])*`[^`]+; allowed:/.exec(query)?.[1]
  const rest = query.replaceAll(/https?:\S+|(?<!=)"[^"]*"|\bTOKENLANE \d+:/g, ' ')
  const text = (/\w/.test(rest) ? rest : query).replaceAll(/\btokenlane[_.][\w.]+/g, (metric) =>
    metric.replace(/(?:_(?:seconds|days|ratio|total|bucket|count|sum))+$/, '').replaceAll('_', '.'),
  )
  // a title may be a part of a line; a single word of it, or one behind an article, says too little
  const words = text.match(/[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*/gu) ?? []
  const titles = words.flatMap((_, from) =>
    [1, 2, 3, 4, 5, 6, 7, 8].map((count) => `=${words.slice(from, from + count).join('-')}`),
  )
  return [
    ...text.split(/[^\p{L}\p{N}_]+/u),
    ...(text.match(/\w+(?:-\w+)+/g) ?? []),
    ...(option === undefined ? [] : ['=INVALID_OPTIONS', `=${option}`]),
    ...new Set([`=${words.join('-')}`, ...titles.filter((title) => /[_.]|(?<!^=(?:an?|the))-/i.test(title))]),
  ].filter((word) => word !== '')
}

/** What the whole site is about says little about what is sought. A code says the most, and so does a long title. */
function boostTerm(term: string): number {
  if (term.startsWith('=')) return term.includes('.') ? 3 : Math.max(1, term.split('-').length / 2)
  if (term.includes('_')) return 3
  return /^(?:call|client|request|api|token|tokenlane|npx)$/.test(term) ? 0.3 : 1
}

/** Of long words a part may be mistyped, of a code two letters. */
function fuzzy(term: string): number | false {
  return term.length > 5 && !term.startsWith('=') && (term.includes('_') ? 2 : 0.2)
}

/** A title is asked for as a whole. */
function prefix(term: string): boolean {
  return !term.startsWith('=')
}

export const indexOptions = {
  fields: ['title', 'titles', 'text', 'said'],
  extractField,
  tokenize,
  processTerm,
} as const

/** Any word of a query may be missing: something near is better than nothing. */
export const searchOptions = {
  combineWith: 'OR',
  boostDocument: rank,
  boost: { title: 3, titles: 1.5, text: 2, said: 4 },
  boostTerm,
  bm25: { k: 1.2, b: 0.4, d: 0.5 },
  weights: { fuzzy: 0.1, prefix: 0.3 },
  fuzzy,
  prefix,
  tokenize: tokenizeQuery,
} as const
