// Looks at the built site in Chromium: pages that scroll sideways, tables wider than their page, small text in pictures, and
// what axe finds.
// pnpm --dir site look [folder for pictures] [word that the pages contain]; without a word, at one page of each kind
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from 'puppeteer-core'

const [pictures = '', word = ''] = process.argv.slice(2)
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
const widths = [390, 820, 1280]
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

const server = createServer((request, response) => {
  const path = join(dist, decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname))
  try {
    const content = readFileSync(path)
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(content)
  } catch {
    response.writeHead(404).end()
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const browser = await launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
})
let faults = 0
const report = (fault: string): void => {
  console.error(fault)
  faults += 1
}
const page = await browser.newPage()
// a busy machine takes longer than the default
page.setDefaultTimeout(120_000)
for (const path of pages) {
  await page.goto(`${origin}/${path}`)
  await page.waitForNetworkIdle({ idleTime: 100 })
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: scheme },
      // colours in the middle of a transition have another contrast
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ])
    await page.waitForFunction(`document.documentElement.classList.contains('dark') === ${scheme === 'dark'}`)
    for (const width of widths) {
      await page.setViewport({ width, height: 900 })
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
      if (wide > width) report(`${path}, ${scheme}: is ${wide} px wide at ${width} px`)
      if (width === 1280)
        for (const fault of (await page.evaluate(cut)) as string[]) report(`${path}, ${scheme}: ${fault}`)
      // a tablet has the elements of a phone, beside each other
      if (width !== 820) {
        await page.evaluate(axe)
        for (const violation of (await page.evaluate(violations)) as string[])
          report(`${path}, ${scheme}, ${width} px: ${violation}`)
      }
      if (pictures === '') continue
      mkdirSync(pictures, { recursive: true })
      const name = `${path.replaceAll('/', '-').replace(/\.html$/, '')}-${width}-${scheme}`
      await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true })
    }
  }
}
await browser.close()
server.close()
console.log(`${pages.length} pages at ${widths.join(', ')} px, light and dark: ${faults} faults`)
process.exitCode = faults === 0 ? 0 : 1
