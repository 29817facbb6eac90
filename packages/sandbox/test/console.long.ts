// Long: needs Chromium.
import { globSync, readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Browser, HTTPRequest, Page } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startSandbox, type Sandbox } from '../src/index.ts'
import { launchChromium, openPage } from './chromium.ts'
import { callApi, tokenOf } from './client.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let browser: Browser
let sandbox: Sandbox
let page: Page
let faults: string[]

beforeAll(async () => {
  await import('../console/build.ts')
  browser = await launchChromium()
  sandbox = await start()
  ;[page, faults] = await openPage(browser, sandbox.consoleUrl as string, 1280)
  await page.waitForSelector(card('journal'))
})
afterAll(async () => {
  await browser.close()
  await sandbox.close()
})
beforeEach(() => {
  sandbox.control.restoreIssuer()
  sandbox.control.restoreApi()
  sandbox.control.resetCounts()
})

function start(port?: number): Promise<Sandbox> {
  return startSandbox({
    control: true,
    controlToken: 'a-token-of-a-console-test',
    records: 10,
    ratePolicies: { weblink: { limits: [{ quota: 25, window: 60_000 }] } },
    ...(port !== undefined && { port }),
  })
}

/** Waits until it is so: the page shows what is new four times a second, and a busy machine needs its time. */
const eventually = (isSo: () => unknown): Promise<unknown> => vi.waitFor(isSo)

const card = (name: string): string => `section[aria-labelledby="${name}"]`
const textOf = (selector: string): Promise<string> =>
  page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText)

/** Moves the mouse off the journal, which is held under it. */
const lookAway = (): Promise<void> => page.mouse.move(0, 0)

/** Presses a button of a card by its text: by the keyboard, since what a button did moves the cards below it. */
async function click(name: string, text: string): Promise<void> {
  for (const button of await page.$$(`${card(name)} button`)) {
    if ((await button.evaluate(({ textContent }) => textContent)) !== text) continue
    const folded = await page.$(`${card(name)} .faults:not([open]):has([value="fail"]) summary`)
    if (folded !== null && (await button.evaluate((one) => one.closest('.faults') !== null)))
      await folded.press('Enter')
    return button.press('Enter')
  }
  throw new Error(`${name} has no button "${text}"`)
}

test('the licence of each package that is built into the page lies beside it', () => {
  const at = (path: string): string => fileURLToPath(new URL(`../console/${path}`, import.meta.url))
  const sources = globSync('*.{ts,tsx}', { cwd: at('src') }).map((file) =>
    readFileSync(at(`src/${file}`), 'utf8'),
  )
  const imported = sources.flatMap((source) =>
    Array.from(source.matchAll(/from '(@?[a-z][\w-]*(?:\/[\w-]+)?)/g), ([, name = '']) =>
      name.startsWith('@') ? name : (name.split('/')[0] ?? ''),
    ),
  )
  const licences = readFileSync(at('dist/licenses.md'), 'utf8')
  expect(new Set(imported).size).toBeGreaterThanOrEqual(3)
  for (const name of imported) expect(licences).toMatch(new RegExp(`^## ${name} - .*\\(MIT\\)$`, 'm'))
})

test('an issuer shows its three newest tokens, and how many more are live', async () => {
  for (let token = 0; token < 7; token += 1) await tokenOf(sandbox, 'weblink')
  await eventually(async () =>
    expect(await textOf(`${card('weblink-issuer')} .tokens`)).toMatch(/\nand 4 more$/),
  )
  sandbox.control.expireTokens()
})

test('an issuer: each button does what it says', async () => {
  const { control } = sandbox
  const issuer = () => control.state().issuers.general
  await tokenOf(sandbox, 'general')
  await eventually(async () => expect(await textOf(card('general-issuer'))).toContain('1 live token'))
  await click('general-issuer', 'Revoke tokens')
  await eventually(() => expect(issuer().live).toBe(0))
  await tokenOf(sandbox, 'general')
  await click('general-issuer', 'Expire tokens')
  await eventually(() => expect(issuer().live).toBe(0))

  await click('general-issuer', 'Fail')
  await eventually(() => expect(issuer().fault).toMatchObject({ does: 'respond', status: 503 }))
  expect(issuer().fault?.timeLeft).toBeGreaterThan(10_000)
  await eventually(async () => expect(await textOf(card('general-issuer'))).toContain('Requests get 503'))
  await click('general-issuer', 'Kill')
  await eventually(() => expect(issuer().fault).toMatchObject({ does: 'cut' }))
  await click('general-issuer', 'Slow all token requests by 2 s')
  await eventually(() => expect(issuer().latency).toBe(2_000))
  await click('general-issuer', 'Restore')
  await eventually(() => expect(issuer()).toMatchObject({ fault: null, latency: 0 }))

  await click('general-issuer', 'Rotate with overlap')
  await eventually(() => expect(issuer().acceptedSecrets).toBe(2))
  await page.waitForSelector(`${card('general-issuer')} ::-p-text(Drop 1 old secret)`)
  await click('general-issuer', 'Drop 1 old secret')
  await eventually(() => expect(issuer().acceptedSecrets).toBe(1))
  const { clientSecret } = sandbox.credentials.general
  await click('general-issuer', 'Rotate secret')
  await eventually(() => expect(control.environment()['GENERAL_CLIENT_SECRET']).not.toBe(clientSecret))
})

test('an API: each button does what it says', async () => {
  const api = () => sandbox.control.state().apis.weblink
  await click('weblink-api', 'Fail')
  await eventually(() => expect(api().fault).toMatchObject({ status: 503, percent: 100 }))
  await click('weblink-api', 'Kill')
  await eventually(() => expect(api().fault).toMatchObject({ does: 'cut' }))
  expect(api().fault?.timeLeft).toBeGreaterThan(10_000)
  await click('weblink-api', 'Slow all calls by 2 s')
  await eventually(() => expect(api().latency).toBe(2_000))
  await click('weblink-api', 'Restore')
  await eventually(() => expect(api()).toMatchObject({ fault: null, latency: 0 }))
  await click('general-api', 'Set policy')
  const policy = () => sandbox.control.state().apis.general.ratePolicy
  await eventually(() => expect(policy()).toMatchObject({ limits: [{ quota: 25, window: 1_000 }] }))
  await click('general-api', 'Remove')
  await eventually(() => expect(policy()).toBeNull())
})

test('a card says every fault that is set, also a wrong clock and how long a delay is', async () => {
  const { control } = sandbox
  const shown = (name: string): Promise<string[]> =>
    page.$$eval(`${card(name)} :is(.health, .notice)`, (all) => all.map((one) => one.textContent))
  control.setIssuerClock('weblink', -60_000)
  control.slowIssuer('general', { median: 300, p99: 2_000 })
  control.slowApi('general', 300)
  control.setApiClock('weblink', 5_000)
  control.slowApi('weblink', { min: 50, max: 1_500 })
  control.killApi('weblink', { percent: 50 })
  for (const [name, text] of [
    ['weblink-issuer', 'The clock is 60 s behind.'],
    ['general-issuer', 'Responses are delayed: half of them by more than 300 ms, 1% by more than 2 s.'],
    ['general-api', 'Responses are delayed by 300 ms.'],
    [
      'weblink-api',
      '50% of the requests lose their connection. Responses are delayed by 50 ms to 1.5 s. The clock is 5 s ahead.',
    ],
  ] as const)
    await eventually(async () => expect(await shown(name)).toEqual(['fault set', text]))
})

test('what is typed in a form stays while the cards go on, and is what its button sends', async () => {
  const { control } = sandbox
  const [opened] = await openPage(browser, sandbox.consoleUrl as string, 1280)
  const issuerForm = 'form[aria-label="faults of the weblink issuer"]'
  const apiForm = 'form[aria-label="faults of the general API"]'
  const policyForm = 'form[aria-label="rate policy of the general API"]'
  const fields: Readonly<Record<string, string>> = {
    [`${issuerForm} [name=percent]`]: '30',
    [`${issuerForm} [name=span]`]: '3',
    [`${apiForm} [name=percent]`]: '40',
    [`${apiForm} [name=span]`]: '2',
    [`${apiForm} [name=status]`]: '429',
    [`${policyForm} [name=quota]`]: '3',
    [`${policyForm} [name=window]`]: '7.5',
  }
  const shown = (): Promise<string[]> =>
    Promise.all(
      Object.keys(fields).map((field) =>
        opened.$eval(field, (one) => (one as unknown as { value: string }).value),
      ),
    )
  await opened.waitForSelector(policyForm)
  for (const fold of await opened.$$('.faults summary')) await fold.press('Enter')
  for (const [field, value] of Object.entries(fields)) {
    if (field.includes('span')) await opened.select(field, value)
    else {
      await opened.$eval(field, (one) => (one as unknown as { select(): void }).select())
      await opened.type(field, value)
    }
  }
  await callApi(sandbox, 'general', {})
  await opened.waitForSelector(`${card('general-api')} .figures ::-p-text(calls1)`)
  expect(await shown()).toEqual(Object.values(fields))

  const state = () => control.state()
  for (const button of [
    `${issuerForm} [value=kill]`,
    `${apiForm} [value=fail]`,
    `${policyForm} [type=submit]`,
  ]) {
    await opened.focus(button)
    await opened.keyboard.press('Enter')
  }
  await eventually(() =>
    expect(state()).toMatchObject({
      issuers: { weblink: { fault: { does: 'cut', percent: 30, timeLeft: null } } },
      apis: {
        general: {
          fault: { status: 429, percent: 40 },
          ratePolicy: { limits: [{ quota: 3, window: 7_500 }] },
        },
      },
    }),
  )
  expect(state().apis.general.fault?.timeLeft).toBeGreaterThan(20_000)
  // another policy is shown, and takes the focus from nothing
  control.setRatePolicy('general', { limits: [{ quota: 9, window: 2_000 }] })
  await eventually(async () => expect((await shown()).slice(-2)).toEqual(['9', '2']))
  expect(await opened.evaluate('document.activeElement?.textContent')).toBe('Set policy')
  control.setRatePolicy('general', null)
  await opened.close()
})

test('an API counts the calls that failed', async () => {
  sandbox.control.failApi('general', { status: 503 })
  await callApi(sandbox, 'general', {})
  await eventually(async () =>
    expect(await textOf(`${card('general-api')} .figures`)).toBe(
      ['calls', 1, 'answered', 0, '401', 0, '429', 0, 'failed', 1].join('\n'),
    ),
  )
})

test('each button says at its card what it did, to screen readers too', async () => {
  const said = (name: string): Promise<string> => textOf(`${card(name)} [role=status]`)
  sandbox.control.expireTokens()
  await eventually(async () => expect(await textOf(card('general-issuer'))).toContain('No live token'))
  for (const [name, button, text] of [
    ['general-issuer', 'Expire tokens', 'No token was live.'],
    ['weblink-issuer', 'Rotate secret', 'There is a new secret. The old one is refused.'],
    ['weblink-issuer', 'Fail', 'All token requests get 503 for 20 s.'],
    [
      'weblink-issuer',
      'Slow all token requests by 2 s',
      'All token requests take 2 s longer until restored.',
    ],
    ['weblink-issuer', 'Restore', 'Restored: no fault is set.'],
    ['general-api', 'Kill', 'All calls lose their connection for 20 s.'],
    ['general-api', 'Restore', 'Restored: no fault is set.'],
    ['general-api', 'Remove', 'Any number of calls is allowed from now on.'],
    ['journal', 'Clear journal and verdict', 'The journal and the verdict were cleared.'],
  ] as const) {
    await click(name, button)
    await eventually(async () =>
      expect(await said(name)).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d  ${text}$`)),
    )
  }
  expect(await said('general-api')).toBe('')
})

test('findings are short until opened, errors first, the most frequent first', async () => {
  const { control } = sandbox
  control.clearJournal()
  const token = await tokenOf(sandbox, 'general')
  for (let call = 0; call < 3; call += 1) await callApi(sandbox, 'weblink', { token })
  await callApi(sandbox, 'general', {})
  const agent = new Agent({ ca: sandbox.ca, keepAlive: false })
  for (let call = 0; call < 20; call += 1) await callApi(sandbox, 'general', { token, tls: { agent } })
  const findings = (): Promise<string[]> =>
    page.$$eval('.findings strong', (all) => all.map((one) => one.innerHTML))
  await eventually(async () =>
    expect(await findings()).toEqual(['foreign-token', 'missing-token', 'work-lost', 'no-keep-alive']),
  )
  // on a narrow page they take several lines, and are whole
  for (const [width, most] of [
    [390, 110],
    [1280, 45],
  ] as const) {
    await page.setViewport({ width, height: 900 })
    const sizes = await page.$$eval('.findings summary', (all) =>
      all.map(({ clientHeight, clientWidth, scrollWidth }) => [clientHeight, scrollWidth - clientWidth]),
    )
    for (const [height, hidden] of sizes) {
      expect(height).toBeLessThan(most)
      expect(hidden).toBe(0)
    }
  }
  await page.click('.findings li:first-child summary')
  expect(await textOf('.findings li:first-child')).toContain("Choose the token by the call's URL")
  // it stays open while the verdict goes on
  await callApi(sandbox, 'weblink', { token })
  await eventually(async () => expect(await textOf('.findings li:first-child')).toContain('4 calls sent'))
  expect(await textOf('.findings li:first-child')).toContain("Choose the token by the call's URL")
  await click('journal', 'Clear journal and verdict')
  await eventually(async () => expect(await findings()).toEqual([]))
})

test('the meter and the text show the count that the API counted, also beyond the quota', async () => {
  const token = await tokenOf(sandbox, 'general')
  sandbox.control.setRatePolicy('general', { limits: [{ quota: 5, window: 60_000 }] })
  for (let call = 0; call < 7; call += 1) await callApi(sandbox, 'general', { token })
  const [{ used, quota } = { used: 0, quota: 0 }] = sandbox.control.state().apis.general.windows
  expect(used).toBeGreaterThan(quota)
  await eventually(async () => {
    expect(await textOf(card('general-api'))).toContain(`${used} of ${quota} in 60 s`)
    const shown = await page.$eval(`${card('general-api')} .windows meter`, (element) => {
      const { value, high } = element as unknown as { value: number; high: number }
      return [value, high]
    })
    expect(shown).toEqual([used, quota])
  })
  sandbox.control.setRatePolicy('general', null)
})

test('a row of the journal opens to its reason, and filters and evidence narrow the table', async () => {
  sandbox.control.clearJournal()
  await callApi(sandbox, 'general', { path: 'records' })
  await callApi(sandbox, 'general', { token: await tokenOf(sandbox, 'general') })
  const rows = (): Promise<number> => page.$$eval(`${card('journal')} tbody tr`, ({ length }) => length)
  await page.type(`${card('journal')} input[type=search]`, '401')
  await eventually(async () => expect(await rows()).toBeGreaterThan(0))
  await click('journal', 'refused')
  await page.waitForSelector('tr.reason')
  expect(await textOf('tr.reason')).toContain('no bearer token')
  // all of the row does what its button does
  const where = `${card('journal')} tr:has(+ .reason) td:nth-child(4)`
  await page.click(where)
  await page.waitForSelector('tr.reason', { hidden: true })
  await page.click(`${card('journal')} .bad td:nth-child(4)`)
  await page.waitForSelector('tr.reason')
  await page.$eval(`${card('journal')} input[type=search]`, (input) => {
    const field = input as unknown as { value: string; dispatchEvent(event: Event): void }
    field.value = ''
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await page.waitForSelector('.findings li.error ::-p-text(missing-token)')
  await page.type(`${card('journal')} input[type=search]`, 'in no entry')
  await eventually(async () => expect(await rows()).toBe(0))
  await page.click('.findings li.error ::-p-text(missing-token)')
  await page.click('.findings li.error details[open] button')
  await page.waitForSelector(`${card('journal')} ::-p-text(Show all entries)`)
  expect(await rows()).toBeGreaterThan(0)
  expect(await rows()).toBeLessThanOrEqual(3)
  // the keyboard and screen readers go on at the evidence
  expect(await page.evaluate('document.activeElement?.id')).toBe('journal')
  expect(
    await page.$eval(`${card('journal')} tbody button`, (button) => button.getAttribute('aria-label')),
  ).toMatch(/^refused: GET \/records, \d\d:\d\d:\d\d$/)
  await click('journal', 'Show all entries')
})

test('evidence is in time order, and the page says that a finding keeps the first 10 entries', async () => {
  await click('journal', 'Clear journal and verdict')
  await eventually(async () => expect(await page.title()).toBe('Tokenlane sandbox'))
  for (let call = 0; call < 12; call += 1) await callApi(sandbox, 'general', { path: 'records' })
  const first = sandbox.control.journal().slice(0, 10)
  await page.waitForSelector('.findings li.error ::-p-text(12 calls had no token)')
  await page.click('.findings li.error ::-p-text(missing-token)')
  await page.click('.findings li.error details[open] button')
  await lookAway()
  await eventually(async () =>
    expect(await textOf(`${card('journal')} .soft`)).toBe(
      '10 entries of evidence, oldest first. A finding keeps only its first 10 entries.',
    ),
  )
  expect(
    await page.$$eval(`${card('journal')} tbody tr td:first-child`, (cells) =>
      cells.map(({ textContent }) => textContent),
    ),
  ).toEqual(first.map(({ at }) => at.slice(11, 23)))
  await click('journal', 'Show all entries')
})

test('with many findings, both issuers, both APIs and their faults are on the first screen', async () => {
  const flaws = ['missing-token', 'foreign-token', 'token-in-url', 'token-outside', 'work-lost']
  const token = await tokenOf(sandbox, 'general')
  await callApi(sandbox, 'general', {})
  await callApi(sandbox, 'weblink', { token })
  await callApi(sandbox, 'general', { token, path: `records?access_token=${token}` })
  await callApi(sandbox, 'weblink', { token, path: '../outside' })
  sandbox.control.failIssuer('general', { status: 503 })
  const [opened] = await openPage(browser, sandbox.consoleUrl as string, 1280)
  await eventually(async () =>
    expect(await opened.$$eval('.findings strong', (all) => all.map((one) => one.innerHTML))).toEqual(
      expect.arrayContaining(flaws),
    ),
  )
  // the findings scroll, and say so by a shadow at the edge
  const hidden = await opened.$eval('.findings', (list) => list.scrollHeight - list.clientHeight)
  expect(hidden).toBeGreaterThan(0)
  expect(
    await opened.evaluate(
      "getComputedStyle(document.querySelector('.findings')).backgroundImage.match(/linear-gradient/g).length",
    ),
  ).toBe(4)
  for (const [width, height] of [
    [1280, 800],
    [820, 1180],
  ] as const) {
    await opened.setViewport({ width, height })
    const ends = await opened.$$eval('.cards :is(h2, .faults summary)', (all) =>
      all.map((one) => one.getBoundingClientRect().bottom),
    )
    expect(ends).toHaveLength(8)
    expect(Math.max(...ends)).toBeLessThan(height)
  }
  await opened.close()
})

test('the journal says how many entries it shows of how many there are', async () => {
  await click('journal', 'Clear journal and verdict')
  await eventually(async () => expect(await textOf(card('journal'))).toContain('becomes a row here'))
  for (let call = 0; call < 1_050; call += 1)
    await callApi(sandbox, 'general', { path: call === 0 ? 'echo' : 'records' })
  await lookAway()
  const said = (): Promise<string> => textOf(`${card('journal')} .soft`)
  await eventually(async () => expect(await said()).toBe('The last 100 of 1,050 entries'))
  const search = async (text: string): Promise<void> => {
    const field = await page.waitForSelector(`${card('journal')} input[type='search']`)
    await field?.click({ count: 3 })
    await field?.press('Backspace')
    await field?.type(text)
    await lookAway()
  }
  await search('weblink-api')
  await eventually(async () => expect(await textOf(card('journal'))).toContain('No entry matches.'))
  await search('general-api')
  await eventually(async () =>
    expect(await said()).toBe(
      'The last 100 of 1,000 entries that match, among the last 1,000 of 1,050 entries',
    ),
  )
  await search('')
  await click('journal', 'Clear journal and verdict')
  await eventually(async () => expect(await textOf(card('journal'))).toContain('becomes a row here'))
})

test('findings leave together with the journal, and its counts are not denied', async () => {
  await callApi(sandbox, 'general', { path: 'records' })
  await eventually(async () => expect(await textOf(card('verdict'))).toMatch(/\n\d errors?, /))
  await page.evaluate(`
      globalThis.seen = []
      const look = () => seen.push(document.querySelector('.verdict').textContent + document.querySelectorAll('.findings li').length)
      new MutationObserver(look).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true })
    `)
  await click('journal', 'Clear journal and verdict')
  const said = 'No request has arrived since the journal was cleared.'
  await eventually(async () => expect(await textOf('.verdict')).toBe(said))
  await eventually(async () => expect(await page.title()).toBe('Tokenlane sandbox'))
  const seen = (await page.evaluate('seen')) as string[]
  expect(seen.filter((each) => each.startsWith('No request') && each !== `${said}0`)).toEqual([])
})

test('findings leave only when the sandbox has cleared them, and a poll from before does not bring them back', async () => {
  await callApi(sandbox, 'general', { path: 'records' })
  const [opened] = await openPage(browser, sandbox.consoleUrl as string, 1280)
  const said = (): Promise<string> => opened.$eval('.verdict', ({ textContent }) => textContent)
  await eventually(async () => expect(await said()).toMatch(/^\d errors?, /))
  const clear = await opened.waitForSelector('button::-p-text(Clear journal and verdict)')
  const findings = (): Promise<number> => opened.$$eval('.findings li', ({ length }) => length)
  const before = { status: 200, body: JSON.stringify(sandbox.control.verdict()) }
  const polls: HTTPRequest[] = []
  let fails = true
  await opened.setRequestInterception(true)
  opened.on('request', (request) => {
    if (request.url().endsWith('/verdict')) polls.push(request)
    else if (request.url().endsWith('/clear-journal') && fails) void request.respond({ status: 500 })
    else void request.continue()
  })
  await clear?.press('Enter')
  await opened.waitForSelector('[role=alert]')
  expect(await findings()).toBeGreaterThan(0)
  expect(await said()).toMatch(/^\d errors?, /)

  fails = false
  await eventually(() => expect(polls.length).toBeGreaterThan(0))
  const late = polls.splice(0)
  await clear?.press('Enter')
  await eventually(async () => expect(await findings()).toBe(0))
  for (const poll of late) await poll.respond(before)
  // by the second poll from now, the late answers have long been read
  const next = polls.length + 2
  await eventually(() => expect(polls.length).toBeGreaterThanOrEqual(next))
  expect(await findings()).toBe(0)
  await opened.close()
})

test('the tab counts the findings while another one is in front', async () => {
  await click('journal', 'Clear journal and verdict')
  await eventually(async () => expect(await page.title()).toBe('Tokenlane sandbox'))
  const front = await browser.newPage()
  await front.bringToFront()
  expect(await page.evaluate('document.hidden')).toBe(true)
  await callApi(sandbox, 'general', { path: 'records' })
  await eventually(async () => expect(await page.title()).toMatch(/^\([12]\) Tokenlane sandbox$/))
  await front.close()
  await page.bringToFront()
})

test('a page that is opened after a mistake never says that there was none', async () => {
  await callApi(sandbox, 'general', { path: 'records' })
  const opened = await browser.newPage()
  await opened.evaluateOnNewDocument(`
    globalThis.said = []
    const hear = () => said.push(document.querySelector('.verdict')?.textContent)
    new MutationObserver(hear).observe(document, { subtree: true, childList: true, characterData: true })
  `)
  await opened.goto(sandbox.consoleUrl as string)
  await eventually(async () => expect(await opened.evaluate('said.at(-1)')).toMatch(/^\d errors?, /))
  expect(await opened.evaluate('said')).not.toContain('No problems found so far.')
  await opened.close()
})

test('the token leaves the address, and all of a row is in sight on a phone', async () => {
  await callApi(sandbox, 'general', { path: 'records' })
  const [opened] = await openPage(browser, sandbox.consoleUrl as string, 1280)
  await opened.waitForSelector(`${card('journal')} tbody tr`)
  for (const width of [390, 820]) {
    await opened.setViewport({ width, height: 900 })
    const hidden = await opened.$eval(
      `${card('journal')} .scroll`,
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    )
    expect(hidden).toBe(0)
  }
  expect(opened.url()).not.toContain('#')
  await opened.close()
})

test('an axe check finds nothing, light and dark, at 390, 1280 and 1920 px, and nothing scrolls sideways', async () => {
  for (const width of [390, 1280, 1920])
    for (const value of ['light', 'dark']) {
      await page.setViewport({ width, height: 900 })
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
      await page.evaluate(axeSource)
      const violations = (await page.evaluate(
        `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
      )) as string[]
      expect(violations).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
  await page.setViewport({ width: 1280, height: 900 })
})

test('the keyboard skips to the journal, and over its rows', async () => {
  const { consoleUrl } = sandbox
  for (const [tabs, id] of [
    [1, 'general-issuer'],
    [2, 'journal'],
  ] as const) {
    const [opened] = await openPage(browser, consoleUrl as string, 1280)
    await opened.waitForSelector('.skip a')
    for (let press = 0; press < tabs; press += 1) await opened.keyboard.press('Tab')
    await opened.keyboard.press('Enter')
    expect(await opened.evaluate('document.activeElement?.id')).toBe(id)
    expect(opened.url()).not.toContain('#')
    await opened.close()
  }
})

test('faults are folded until one is set, and stay open while they are used', async () => {
  const [opened] = await openPage(browser, sandbox.consoleUrl as string, 1280)
  const open = (): Promise<string[]> =>
    opened.$$eval('.faults[open] form', (all) => all.map((one) => `${one.getAttribute('aria-label')}`))
  await opened.waitForSelector('.faults')
  expect(await open()).toEqual([])
  sandbox.control.failApi('general', { status: 503 })
  sandbox.control.slowIssuer('weblink', 2_000)
  await eventually(async () =>
    expect(await open()).toEqual(['faults of the weblink issuer', 'faults of the general API']),
  )
  await opened.focus(`${card('general-api')} .faults [value=fail]`)
  sandbox.control.restoreApi()
  sandbox.control.restoreIssuer()
  await eventually(async () => expect(await open()).toEqual(['faults of the general API']))
  await opened.close()
})

test('a TLS handshake that was answered has no status, and was not cut', async () => {
  await click('journal', 'Clear journal and verdict')
  await eventually(async () => expect(await textOf(card('journal'))).toContain('becomes a row here'))
  const tls = { agent: new Agent({ ca: sandbox.ca, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }) }
  await callApi(sandbox, 'general', { tls })
  const [entry] = sandbox.control.journal()
  expect(entry).toMatchObject({ method: null, status: null, decision: 'answered' })
  await eventually(async () =>
    expect(
      await page.$$eval(`${card('journal')} tbody tr`, (rows) =>
        rows.map((row) => [...row.querySelectorAll('td')].slice(1, 3).map((cell) => cell.textContent)),
      ),
    ).toEqual([
      ['refused', '401'],
      ['answered', ''],
    ]),
  )
  await click('journal', 'Clear journal and verdict')
})

test('all of the page can be reached by keyboard', async () => {
  const reached = new Set<string>()
  await page.evaluate('document.activeElement?.blur()')
  sandbox.control.clearJournal()
  for (const fold of await page.$$('.faults:not([open]) summary')) await fold.press('Enter')
  await page.evaluate('document.activeElement?.blur()')
  for (let press = 0; press < 150; press += 1) {
    await page.keyboard.press('Tab')
    reached.add((await page.evaluate('document.activeElement?.textContent ?? ""')) as string)
  }
  for (const text of ['Revoke tokens', 'Kill', 'Set policy', 'Fail', 'Copy the environment'])
    expect(reached).toContain(text)
})

test('the page says that the sandbox has ended, and goes on with the next one', async () => {
  const { controlUrl } = sandbox
  await sandbox.close()
  await page.waitForSelector('.link.lost')
  sandbox = await start(Number(new URL(controlUrl as string).port))
  await page.waitForSelector('.link.live')
  await tokenOf(sandbox, 'weblink')
  await eventually(async () => expect(await textOf(card('weblink-issuer'))).toContain('1 live token'))
})

test('with a token of another sandbox the page asks for the new address', async () => {
  const other = await browser.newPage()
  await other.goto(`${sandbox.controlUrl}/#token=the-token-of-yesterday`)
  await other.waitForSelector('.link.denied')
  await other.type('input[name=address]', sandbox.consoleUrl as string)
  await other.keyboard.press('Enter')
  await other.waitForSelector('.link.live')
  expect(other.url()).not.toContain('token')
  await other.close()
})

test('the address of the console may be pasted into the open page', async () => {
  const other = await browser.newPage()
  await other.goto(`${sandbox.controlUrl}/#token=the-token-of-yesterday`)
  await other.waitForSelector('.link.denied')
  await other.evaluate(`location.href = ${JSON.stringify(sandbox.consoleUrl)}`)
  await other.waitForSelector('.link.live')
  expect(other.url()).not.toContain('token')
  await other.close()
})

test('the page reported nothing on its console but that the sandbox was away, and asked for nothing elsewhere', () => {
  expect(
    faults.filter((fault) => !/ERR_CONNECTION|ERR_INCOMPLETE|Failed to load resource/.test(fault)),
  ).toEqual([])
})
