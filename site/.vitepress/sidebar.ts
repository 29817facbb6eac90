// The order of the site is that of its tables of contents.
import { readdirSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'

type Item = DefaultTheme.SidebarItem

const generated = new URL('../generated/', import.meta.url)

export function sidebar(): Item[] {
  return [
    { text: 'Tokenlane', link: '/' },
    { text: 'Guide', link: '/guide/', items: contents('guide/index.md', 'guide') },
    { text: 'Packages', items: packages() },
    { text: 'Examples', link: '/examples/', items: contents('examples/index.md', 'examples') },
    { text: 'API reference', link: '/reference/', items: contents('reference/index.md', 'reference') },
    { text: 'Project', items: tables() },
  ]
}

/** What a page links to below a folder, in its order; below its headings, if it has some. */
function contents(page: string, folder: string): Item[] {
  const [start = '', ...sections] = read(page).split(/^## /m)
  const groups = sections.map((section) => ({
    text: section.split('\n')[0] ?? '',
    items: linksIn(section, folder),
  }))
  return [...linksIn(start, folder), ...groups.filter(({ items }) => items.length > 0)]
}

function linksIn(text: string, folder: string): Item[] {
  const links = text.matchAll(/^(?:[-|]|\d+\.) *\[([^\]]+)\]\(([^)#]+)\.md\)/gm)
  return Array.from(links, ([, label = '', path = '']) => ({
    text: label.replaceAll('`', ''),
    link: path.startsWith('/') ? path : `/${folder}/${path}`,
  })).filter(({ link }) => link.startsWith(`/${folder}/`))
}

/** The packages that the README links to, in its order, by their names. */
function packages(): Item[] {
  const links = read('index.md').matchAll(/\]\((\/packages\/[^)#]+)\.md\)/g)
  const unique = new Set(Array.from(links, ([, link = '']) => link))
  return Array.from(unique, (link) => ({ text: headingOf(`.${link}.md`), link }))
}

/** The pages beside the guide, by their headings. */
function tables(): Item[] {
  return readdirSync(generated)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => ({
      text: headingOf(name),
      link: `/${name.replace(/\.md$/, '')}`,
    }))
}

function headingOf(page: string): string {
  return /^# (.+)$/m.exec(read(page))?.[1] ?? page
}

function read(page: string): string {
  return readFileSync(new URL(page, generated), 'utf8')
}
