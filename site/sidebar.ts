// The order of the site is that of its tables of contents.
import { readdirSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'

type Item = DefaultTheme.SidebarItem

const generated = new URL('generated/', import.meta.url)

/** The sidebar of all pages. */
export function sidebar(): Item[] {
  return [
    { text: 'Overview', link: '/' },
    { text: 'Guide', link: '/guide/', items: contents(read('guide/index.md'), 'guide') },
    { text: 'Packages', items: packages() },
    {
      text: 'Examples',
      link: '/examples/',
      collapsed: true,
      items: contents(read('examples/index.md'), 'examples'),
    },
    {
      text: 'API reference',
      link: '/reference/',
      collapsed: true,
      items: contents(read('reference/index.md'), 'reference'),
    },
    { text: 'Project', items: tables() },
  ]
}

/** Returns what a page links to below a folder, in its order; below its headings, if it has some. */
export function contents(text: string, folder: string): Item[] {
  const [start = '', ...sections] = text.split(/^## /m)
  const groups = sections.map((section) => ({
    text: section.split('\n')[0] ?? '',
    items: linksIn(section, folder),
  }))
  return [...linksIn(start, folder), ...groups.filter(({ items }) => items.length > 0)]
}

/** The first link of each row or item that begins with one. Below the index of a folder stand its pages that the item names. */
function linksIn(text: string, folder: string): Item[] {
  return text.split(/^(?=[-|]|\d+\.)/m).flatMap((row) => {
    if (!/^(?:[-|]|\d+\.) *\[/.test(row)) return []
    const links = Array.from(row.matchAll(/\[([^\]]+)\]\(([^)#]+)\.md\)/g), ([, label = '', path = '']) => ({
      text: label.replaceAll('`', ''),
      link: (path.startsWith('/') ? path : `/${folder}/${path}`).replace(/\/index$/, '/'),
    }))
    const [first, ...others] = links
    if (first === undefined || !first.link.startsWith(`/${folder}/`)) return []
    const items = first.link.endsWith('/') ? others.filter(({ link }) => link.startsWith(first.link)) : []
    return [items.length > 0 ? { ...first, items } : first]
  })
}

/** The packages that the README links to, in its order, by their names. */
function packages(): Item[] {
  const links = read('index.md').matchAll(/\]\((\/packages\/[^)#]+)\.md\)/g)
  const unique = new Set(Array.from(links, ([, link = '']) => link))
  return Array.from(unique, (link) => ({ text: headingOf(`${link}.md`), link }))
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
  return readFileSync(new URL(page.replace(/^\//, ''), generated), 'utf8')
}
