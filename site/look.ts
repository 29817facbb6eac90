// Looks at the built site, and at the READMEs as a forge shows them, in Chromium: pages that scroll sideways, titles below
// the bar, code that is cut, small pictures, what axe finds, what readers do, and searches that lead nowhere.
// pnpm -C site look [folder for pictures] [word that the pages contain, or `visits`, or `search`] [queries to search for]
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { launch, type Page } from 'puppeteer-core'
import { root } from './pages.ts'
import { firstSearch, lostSearches, printSearches } from './searches.ts'
import { createPages } from './server.ts'
import { failedVisits } from './visits.ts'

const [pictures, word = '', ...queries] = process.argv.slice(2)
const dist = fileURLToPath(new URL('dist', import.meta.url))
const pages = [
  'index.html',
  ...globSync('guide/**/*.html', { cwd: dist }),
  'reference/index.html',
  'reference/@tokenlane/core/index.html',
  'reference/@tokenlane/core/interfaces/RatePolicy.html',
  ...globSync('*.html', { cwd: dist }).filter((path) => path !== 'index.html'),
  ...globSync('{packages,examples}/*.html', { cwd: dist }),
  ...globSync(['README.md', 'packages/*/README.md'], { cwd: root }).map((path) => `forge/${path}`),
].filter((path) => path.includes(word))
const widths = [320, 390, 820, 1280, 1920]
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
/** What axe need not look at: the colours and the focus of a forge are not ours. */
const forgesOwn = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable']
const rulesFor = (path: string): string =>
  JSON.stringify(
    path.startsWith('forge/') ? Object.fromEntries(forgesOwn.map((rule) => [rule, { enabled: false }])) : {},
  )
/** The longest line of each code block that must be scrolled to be read. */
const cutCode =
  "Array.from(document.querySelectorAll('.vp-doc pre, .markdown-body pre')).filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.innerText.split('\\n').toSorted((a, b) => b.length - a.length)[0])"
/** Code, tables and diagrams with more to the right, and nothing that says so. */
const unmarked =
  "document.querySelectorAll('.vp-doc :is(pre, .frame, .diagram)').values().filter((each) => each.scrollWidth > each.clientWidth + 1 && !each.hasAttribute('data-more-right')).toArray().length"
/** Whether the title lies below the bars at the top, where the page has both. */
const titleIsHidden =
  "(() => { const title = document.querySelector('h1'); const bars = Array.from(document.querySelectorAll('.VPNavBar, .VPLocalNav'), (bar) => bar.getBoundingClientRect().bottom); return title !== null && title.getBoundingClientRect().top < Math.max(0, ...bars) })()"
/** Pictures that a phone shows at less than seven tenths of their size. */
const smallPictures =
  "Array.from(document.querySelectorAll('.vp-doc img')).filter(({ clientWidth, naturalWidth }) => clientWidth < naturalWidth * 0.7).map(({ currentSrc }) => currentSrc)"
/** One sentence for what axe found. */
const described =
  'function described({ id, nodes }) { return `${id}: ${nodes.length} places, first ${nodes[0].html.slice(0, 140)} (${nodes[0].failureSummary.slice(0, 200)})` }'
/** Where the last block of code ends that the first screen of the README is to hold, in pixels. */
const firstScreen =
  "Array.from(document.querySelectorAll('pre')).find((pre) => pre.innerText.startsWith('// after')).getBoundingClientRect().bottom + scrollY"

const server = createPages()
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const browser = await launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
})
let count = 0
try {
  const page = await browser.newPage()
  // a busy machine takes longer than the default
  page.setDefaultTimeout(120_000)
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: scheme },
      // colours in the middle of a transition have another contrast
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ])
    for (const path of pages) report(await look(page, path, scheme))
  }
  if (word === '' || word === 'visits') report(await failedVisits(page, origin))
  if (queries.length > 0) await printSearches(page, origin, queries)
  else if (word === '' || word === 'search') {
    console.log(
      `The first result of a visit's first search is there after ${Math.round(await firstSearch(page, origin))} ms`,
    )
    report(await lostSearches(page, origin))
  }
} finally {
  await browser.close()
  server.close()
}
console.log(`${pages.length} pages at ${widths.join(', ')} px, light and dark: ${count} faults`)
process.exitCode = count === 0 ? 0 : 1

/** Prints faults as they are found: the whole run takes minutes. */
function report(found: readonly string[]): void {
  for (const fault of found) console.error(fault)
  count += found.length
}

async function look(page: Page, path: string, scheme: string): Promise<string[]> {
  const found: string[] = []
  await page.goto(`${origin}/${path}`)
  await page.waitForNetworkIdle({ idleTime: 100 })
  for (const width of widths) {
    await page.setViewport({ width, height: 900 })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    if (Number(wide) > width) found.push(`${path}, ${scheme}: is ${String(wide)} px wide at ${width} px`)
    if (await page.evaluate(titleIsHidden)) found.push(`${path}: the title is below the bar at ${width} px`)
    if (width === 390)
      for (const picture of (await page.evaluate(smallPictures)) as string[])
        found.push(`${path}, ${scheme}: ${picture} is small at ${width} px`)
    const cut = Number(await page.evaluate(`new Promise(requestAnimationFrame).then(() => ${unmarked})`))
    if (cut > 0) found.push(`${path}, ${scheme}: ${cut} places are cut without a hint at ${width} px`)
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true })
      const file = `${path.replaceAll('/', '-').replace(/\.\w+$/, '')}-${width}-${scheme}`
      await page.screenshot({ path: `${pictures}/${file}.png`, fullPage: true })
    }
    if (width === 1280 && path.startsWith('forge/'))
      for (const code of (await page.evaluate(cutCode)) as string[])
        found.push(`${path}, ${scheme}: code is cut at ${width} px: ${code}`)
    if (width === 1280 && path === 'forge/README.md') {
      const end = Number(await page.evaluate(firstScreen))
      if (end > 800) found.push(`${path}: before and after end at ${end} px, below the first screen`)
    }
    if (width !== 390 && width !== 1280) continue
    await page.evaluate(`${axe};${described}`)
    const violations = (await page.evaluate(
      `axe.run({ rules: ${rulesFor(path)} }).then(({ violations }) => violations.map(described))`,
    )) as string[]
    for (const violation of violations) found.push(`${path}, ${scheme}, ${width} px: ${violation}`)
  }
  return found
}
