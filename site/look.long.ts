// Long: needs Chromium, and the built site, which `pnpm --dir site build` makes.
// PICTURES=folder takes pictures; PAGES=word looks at the pages whose path has that word, instead of one of each kind.
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '../packages/sandbox/test/chromium.ts'

const { PICTURES: pictures = '', PAGES: word = '' } = process.env
const dist = fileURLToPath(new URL('dist', import.meta.url))
const kinds = [
  'index.html',
  'guide/bootstrap.html',
  'guide/rate-policy.html',
  'guide/metrics.html',
  'guide/troubleshoot.html',
  'packages/redis.html',
  'reference/@tokenlane/core.html',
  'examples/express.html',
  'compare.html',
  '404.html',
]
const pages = word === '' ? kinds : globSync('**/*.html', { cwd: dist }).filter((path) => path.includes(word))
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
/** One sentence for each thing that axe finds. */
const violations =
  'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.length} places, first ${nodes[0].html.slice(0, 140)}`))'
/** The heads of tables that scroll, and pictures that are drawn smaller than they are, so that their text of 12 px is too. */
const cut = `[
  ...Array.from(document.querySelectorAll('.vp-doc .frame'))
    .filter((frame) => frame.scrollWidth > frame.clientWidth)
    .map((frame) => 'a table scrolls: ' + frame.querySelector('tr').textContent.trim().replaceAll(/\\s+/g, ' ')),
  ...Array.from(document.querySelectorAll('.vp-doc img'))
    .filter((image) => image.width < 0.98 * image.naturalWidth)
    .map((image) => 'a picture is drawn at ' + image.width + ' of its ' + image.naturalWidth + ' px: ' + image.alt),
]`
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

let server: Server
let browser: Browser
let page: Page

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = join(dist, decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname))
    try {
      const content = readFileSync(path)
      response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(content)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  browser = await launchChromium()
  page = await browser.newPage()
  page.setDefaultTimeout(120_000)
})
afterAll(async () => {
  await browser.close()
  server.close()
})

test.each(pages)(
  '%s does not scroll sideways, cuts nothing off, and has no fault that axe finds, in light and dark',
  async (path) => {
    const faults: string[] = []
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`)
    await page.waitForNetworkIdle({ idleTime: 100 })
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: scheme },
        // colours in the middle of a transition have another contrast
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ])
      await page.waitForFunction(
        `document.documentElement.classList.contains('dark') === ${scheme === 'dark'}`,
      )
      for (const width of [390, 820, 1280]) {
        const found: string[] = []
        await page.setViewport({ width, height: 900 })
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        if (wide > width) found.push(`is ${wide} px wide`)
        if (width === 1280) found.push(...((await page.evaluate(cut)) as string[]))
        // a tablet has the elements of a phone, beside each other
        if (width !== 820) {
          await page.evaluate(axe)
          found.push(...((await page.evaluate(violations)) as string[]))
        }
        faults.push(...found.map((fault) => `${scheme}, ${width} px: ${fault}`))
        if (pictures === '') continue
        mkdirSync(pictures, { recursive: true })
        const name = `${path.replaceAll('/', '-').replace(/\.html$/, '')}-${width}-${scheme}`
        await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true })
      }
    }
    expect(faults).toEqual([])
  },
)
