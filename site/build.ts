// Builds the site, without a network: texts, API reference, HTML. Fails on a dead link.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { changelog, pageOf, root, texts, withFiles } from './pages.ts'
import { faultsOf } from './faults.ts'
import { homePage } from './home.ts'
import { siteLinks } from './links.ts'
import { llmsText } from './llms.ts'
import { withPackageManagers, withTabs } from './markdown.ts'
import { writeReference } from './reference.ts'

const site = fileURLToPath(new URL('.', import.meta.url))
const generated = join(site, 'generated')
rmSync(generated, { recursive: true, force: true })

await writeReference(join(generated, 'reference'))
const pages = new Map([['changelog.md', changelog()]])
for (const path of texts()) {
  const text = withTabs(withPackageManagers(siteLinks(readFileSync(join(root, path), 'utf8'), path)))
  pages.set(pageOf(path) as string, /^examples\/.+\/README\.md$/.test(path) ? withFiles(text, path) : text)
}
const llms = llmsText(pages)
pages.set('index.md', homePage(pages.get('index.md') ?? ''))
for (const [page, text] of pages) {
  mkdirSync(dirname(join(generated, page)), { recursive: true })
  writeFileSync(join(generated, page), text)
}
cpSync(join(root, 'docs/images'), join(generated, 'public/images'), { recursive: true })
cpSync(join(root, 'packages/sandbox/console/public/icon.svg'), join(generated, 'public/icon.svg'))
writeFileSync(join(generated, 'public/llms.txt'), llms)
await build(site)

const faults = faultsOf(join(site, 'dist'))
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
