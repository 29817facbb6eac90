// Looks at the built site in Chromium: pages that scroll sideways, code that is cut, and what axe finds. pnpm -C site look [folder for pictures]
import { createServer } from 'node:http'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch, type Page } from 'puppeteer-core'

const dist = fileURLToPath(new URL('dist', import.meta.url))
const guide = globSync('guide/*.html', { cwd: dist }).map((path) => path.replace(/\.html$/, ''))
const pages = [
  'index',
  ...guide,
  'reference/index',
  'reference/@tokenlane/core/index',
  'reference/@tokenlane/core/interfaces/RatePolicy',
  'benchmarks',
  'verdict',
]
const widths = [390, 820, 1280, 1920]
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
/** The first line of each code block that must be scrolled to be read. */
const cutCode =
  "Array.from(document.querySelectorAll('.vp-doc pre')).filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.innerText.split('\\n').toSorted((a, b) => b.length - a.length)[0])"
const pictures = process.argv[2]

const server = createServer((request, response) => {
  const path = join(dist, decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname))
  if (!existsSync(path)) return response.writeHead(404).end()
  return response.setHeader('content-type', types[extname(path)] ?? 'text/plain').end(readFileSync(path))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const browser = await launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
})
const faults: string[] = []
try {
  const page = await browser.newPage()
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: scheme },
      // colours in the middle of a transition have another contrast
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ])
    for (const path of pages) faults.push(...(await look(page, path, scheme)))
  }
} finally {
  await browser.close()
  server.close()
}
for (const fault of faults) console.error(fault)
console.log(`${pages.length} pages at ${widths.join(', ')} px, light and dark: ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1

async function look(page: Page, path: string, scheme: string): Promise<string[]> {
  const found: string[] = []
  await page.goto(`${origin}/${path}.html`, { waitUntil: 'networkidle0' })
  for (const width of widths) {
    await page.setViewport({ width, height: 900 })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    if (Number(wide) > width) found.push(`${path}, ${scheme}: is ${String(wide)} px wide at ${width} px`)
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true })
      const file = `${path.replaceAll('/', '-')}-${width}-${scheme}`
      await page.screenshot({ path: `${pictures}/${file}.png`, fullPage: true })
    }
    if (width === 1280 && path.startsWith('guide/'))
      for (const code of (await page.evaluate(cutCode)) as string[])
        found.push(`${path}, ${scheme}: code is cut at ${width} px: ${code}`)
    if (width !== 390 && width !== 1280) continue
    await page.evaluate(axe)
    const violations = (await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.length} places, first ${nodes[0].html.slice(0, 140)} (${nodes[0].failureSummary.slice(0, 200)})`))',
    )) as string[]
    for (const violation of violations) found.push(`${path}, ${scheme}, ${width} px: ${violation}`)
  }
  return found
}
