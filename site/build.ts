// Builds the site, without a network: texts, API reference, HTML. Fails on a dead link.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { faultsOf } from './faults.ts'
import { withFiles } from './example.ts'
import { siteLinks } from './links.ts'
import { pageOf, root, texts } from './pages.ts'
import { writeReference } from './reference.ts'

const site = fileURLToPath(new URL('.', import.meta.url))
const generated = join(site, 'generated')
rmSync(generated, { recursive: true, force: true })

await writeReference(join(generated, 'reference'))
for (const path of texts()) {
  const text = siteLinks(readFileSync(join(root, path), 'utf8'), path)
  const page = join(generated, pageOf(path) as string)
  mkdirSync(dirname(page), { recursive: true })
  writeFileSync(page, /^examples\/.+\/README\.md$/.test(path) ? withFiles(text, path) : text)
}
cpSync(join(root, 'docs/images'), join(generated, 'public/images'), { recursive: true })
await build(site)

const faults = faultsOf(join(site, 'dist'))
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
