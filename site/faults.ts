// What VitePress lets pass: links to headings that do not exist, files that come from elsewhere, heavy pages, indented code,
// and pages that their own sidebar does not list.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const description = /<meta name="description" content="([^"]*)"/
const sidebar = /<aside class="VPSidebar"[^>]*>([^]*?)<\/aside>/
const anchors = /\bid="([^"]+)"/g
const links = /<a\b[^>]*?\bhref="(\/[^"#]*)?#([^"]+)"/g
const remote = /<(?:script|link|img|source|iframe)\b[^>]*?\b(?:src|href)="(?:https?:)?\/\/[^"]*"/g
const remoteStyle = /(?:@import\s|url\()\s*["']?(?:https?:)?\/\/[^"')]*/g

/** Largest page, in bytes. */
const heaviest = 500_000

/** Returns one sentence for each fault of a built site. */
export function faultsOf(dist: string): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: dist }).map((path) => [
      `/${path.replaceAll('\\', '/')}`,
      readFileSync(join(dist, path), 'utf8'),
    ]),
  )
  const ids = new Map<string, Set<string>>()
  for (const [path, html] of pages) ids.set(path, new Set(matches(html, anchors)))

  const faults: string[] = []
  const saying = new Map<string, string>()
  for (const [path, html] of pages) {
    const [, said = ''] = description.exec(html) ?? []
    const like = said === '' ? undefined : saying.get(said)
    if (like !== undefined) faults.push(`${path} has the description of ${like}`)
    saying.set(said, path)
    const [, listed] = sidebar.exec(html) ?? []
    if (listed !== undefined && !listed.includes(`href="${path.replace(/\/index\.html$/, '/')}"`))
      faults.push(`${path} is not in its sidebar`)
    if (html.length > heaviest) faults.push(`${path} has ${html.length} bytes, more than ${heaviest}`)
    for (const [, page = path, anchor = ''] of html.matchAll(links)) {
      const target = page.endsWith('/') ? `${page}index.html` : page
      if (ids.get(target)?.has(decodeURIComponent(anchor)) !== true)
        faults.push(`${path} links to ${page}#${anchor}, which does not exist`)
    }
    if (html.includes('<pre><code>'))
      faults.push(`${path} has an indented block of code, which does not scroll`)
    for (const [tag] of html.matchAll(remote)) faults.push(`${path} loads from elsewhere: ${tag}`)
  }
  for (const path of globSync('**/*.css', { cwd: dist }))
    for (const [rule] of readFileSync(join(dist, path), 'utf8').matchAll(remoteStyle))
      faults.push(`/${path} loads from elsewhere: ${rule}`)
  return faults
}

function matches(html: string, pattern: RegExp): string[] {
  return Array.from(html.matchAll(pattern), ([, match = '']) => match)
}
