import { expect, test } from 'vitest'
import { indexOptions, searchable, searchOptions } from './search.ts'

test('a section is found by words that it does not have', () => {
  expect(searchable('# Behind a proxy\n\nText.\n', 'guide/proxy.md')).toMatch(/^# Behind a proxy\n\nEACCES/)
})

test('words for a heading that is gone are an error', () => {
  expect(() => searchable('# Proxies\n', 'guide/proxy.md')).toThrow('no heading "Behind a proxy"')
})

test('of the reference only the title is found, of a table of measurements the headings', () => {
  expect(searchable('# Function: a\n\nText.\n', 'reference/a.md')).toBe('# Function: a')
  expect(searchable('# Tables\n\nText.\n\n## Storms\n', 'measurements.md')).toBe('# Tables\n\n## Storms')
})

test('a query for an error code asks for it as a whole, a parameter is also found by its parts', () => {
  expect(searchOptions.tokenize('QUEUE_TIMEOUT invalid_client')).toEqual([
    'QUEUE_TIMEOUT',
    'invalid_client',
    '=QUEUE_TIMEOUT-invalid_client',
    '=QUEUE_TIMEOUT',
    '=invalid_client',
  ])
  expect(indexOptions.tokenize('QUEUE_TIMEOUT')).toEqual(['QUEUE_TIMEOUT'])
  expect(indexOptions.tokenize('invalid_client')).toEqual(['invalid_client', 'invalid', 'client'])
})

test('a metric of Prometheus is found by the parts of its name in OpenTelemetry', () => {
  for (const end of ['', '_count', '_seconds_bucket'])
    expect(searchOptions.tokenize(`rate(tokenlane_queue_wait_duration${end}[5m])`)).toEqual(
      expect.arrayContaining(indexOptions.tokenize('tokenlane.queue.wait.duration', 'title')),
    )
})

test('a query that is a title asks for that title, in the guide and first for an option', () => {
  const { tokenize, boostDocument: weight, prefix, fuzzy } = searchOptions
  expect(indexOptions.tokenize('wrong-secret', 'title')).toContain('=wrong-secret')
  expect(indexOptions.tokenize('wrong-secret', 'text')).not.toContain('=wrong-secret')
  expect(tokenize(' wrong-secret ')).toEqual(['wrong', 'secret', 'wrong-secret', '=wrong-secret'])
  expect([prefix('=maxwait'), fuzzy('=maxwait')]).toEqual([false, false])
  const pages = ['guide/options', 'guide/rate-policy', 'packages/redis', 'changelog']
  const weights = pages.map((page) => weight(`/${page}.html#a`, '=a'))
  expect(weights).toEqual(weights.toSorted((a, b) => b - a))
  expect(weights.at(-1)).toBe(0)
})

test('a title is found whatever stands between its words', () => {
  expect(searchOptions.tokenize('wrong secret')).toContain(
    indexOptions.tokenize('wrong-secret', 'title').at(-1),
  )
})

test('code that a section begins with counts like a title, also in the whole line of a log', () => {
  const page =
    '# Lines\n\n`a store: failed` or `run(x)` in the log, and `more`.\n\n`NODE_DEBUG=b` is for later.\n'
  const text = searchable(page, 'guide/a.md')
  expect(text).toMatch(/^# Lines\n\n=a-store-failed =run\n\n`a store/)
  expect(text).not.toMatch(/=more|=NODE/)
  expect(indexOptions.tokenize(text, 'said')).toEqual(['=a-store-failed', '=run'])
  expect(indexOptions.tokenize(text, 'text')).not.toContain('=a-store-failed')
  for (const line of ['a store: failed', 'TOKENLANE 7: a store: failed (timeout); it goes on (later)'])
    expect(searchOptions.tokenize(line)).toContain('=a-store-failed')
})

test('the whole line of a log asks for the row of a table, or the item, that explains its words', () => {
  const table = '| the line says    | what to do |\n| --- | --- |\n| `no new token (CODE` | See it. |\n'
  const rows =
    '| `queued`, `empty in about` | Nothing. |\n| `scope` | A scope. |\n| responded … like an API, … | URL. |\n'
  const items = '- **`tokenlane.secret.days_left`**, gauge.\n- **Others** of `a.b`.\n'
  const said = indexOptions.tokenize(searchable(`# Page\n\n${table}${rows}\n${items}`, 'guide/a.md'), 'said')
  expect(said).toEqual([
    '=the-line-says',
    '=no-new-token',
    '=empty-in-about',
    '=like-an-API',
    '=tokenlane.secret.days.left',
  ])
  const line = 'https://a.example/: 2 queued, empty in about 1.0 s; general: no new token (TOKEN_FAILED)'
  const asked = searchOptions.tokenize(line)
  expect(asked).toEqual(expect.arrayContaining(['=empty-in-about', '=no-new-token', '=TOKEN_FAILED']))
  // every title with such a word, or like "An API", would be found
  for (const query of ['=queued', '=an-API', '=the-API'])
    expect(searchOptions.tokenize(`the API of an API: ${line}`)).not.toContain(query)
})

test('the more words a title has, the more it says', () => {
  const [shorter, longer] = ['=store-failed', '=token-store-failed'].map(searchOptions.boostTerm)
  expect(longer).toBeGreaterThan(shorter as number)
})

test('a message that says what an option allows asks for that option', () => {
  for (const option of ['`apis[0].ratePolicy.maxWait`', '`maxWait`', '`maxWait()`', '`a.maxWait[2]`'])
    expect(searchOptions.tokenize(`${option} is 7; allowed: a number`)).toContain('=maxWait')
  expect(searchOptions.tokenize('raise `maxWait`: it is 7')).not.toContain('=maxWait')
})

test('of a code, two letters may be mistyped', () => {
  expect(searchOptions.fuzzy('inavlid_client')).toBe(2)
})

test("a message's URLs and quoted parts are not searched for, unless it has nothing else", () => {
  const words = (query: string): string[] =>
    searchOptions.tokenize(query).filter((word) => !word.startsWith('='))
  expect(words('Issuer "general" (https://auth.example.com/token) refused')).toEqual(['Issuer', 'refused'])
  expect(words('"invalid_client"')).toEqual(['invalid_client'])
  expect(words('Bearer error="invalid_token"')).toEqual(['Bearer', 'error', 'invalid_token'])
})

test('a message that names its section asks for that section alone, and a code in it counts the most', () => {
  const message =
    'Cannot use tokens: it was closed (see node_modules/@tokenlane/core/troubleshoot.md#manager_closed)'
  expect(searchOptions.tokenize(message)).toEqual(['manager_closed', '=manager_closed'])
  expect(searchOptions.boostTerm('invalid_client')).toBeGreaterThan(searchOptions.boostTerm('refused'))
})

test('a plural finds its singular', () => {
  const found = (words: string): (string | null)[] => words.split(' ').map(indexOptions.processTerm)
  expect(found('logs processes proxies access status https')).toEqual(
    found('log process proxie access status http'),
  )
  expect(found('how the Tokens')).toEqual([null, null, 'token'])
})

test('a page that a word names weighs more, and what troubleshoots weighs more than what lists', () => {
  const weight = searchOptions.boostDocument
  expect(weight('/packages/ky.html#in-tests', 'ky')).toBeGreaterThan(weight('/guide/bootstrap.html#ky', 'ky'))
  expect(weight('/guide/troubleshoot.html#a', 'x')).toBeGreaterThan(weight('/guide/options.html#a', 'x'))
})
