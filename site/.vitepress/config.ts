import footnote from 'markdown-it-footnote'
import { defineConfig } from 'vitepress'
import { frames } from '../frames.ts'
import { release, repositoryUrl } from '../home.ts'
import { diagrams } from '../mermaid.ts'
import { slugOf } from '../slug.ts'
import { sidebar } from './sidebar.ts'

/**
 * What the search finds of a page: of the reference its title, of the generated tables their headings. The rest of them is
 * most of the words of the site, and leads nobody to a page that says how.
 */
function searchable(text: string, { relativePath }: { relativePath?: string }): string {
  if (relativePath?.startsWith('reference/') === true) return /^# .+$/m.exec(text)?.[0] ?? ''
  if (/^(?:measurements|conformance|tls|exam|runtimes)/.test(relativePath ?? ''))
    return (text.match(/^#+ .+$/gm) ?? []).join('\n\n')
  return text.replaceAll(/^```\w+$/gm, '```')
}

/** A page that says how comes before one that lists; a provider's own page comes before those that mention it. */
function rank(page: string): number {
  if (/^\/(?:measurements|exam|conformance|changelog)/.test(page)) return 0.3
  if (page.startsWith('/guide/doctor')) return 0.5
  return page.startsWith('/guide/providers/') ? 1.6 : 1
}

export default defineConfig({
  title: 'Tokenlane',
  description:
    'The right OAuth 2.0 token on every axios, got, ky and fetch call, at the rate each API allows',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  srcDir: 'generated',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: slugOf },
    config: (md) => void md.use(footnote).use(diagrams).use(frames),
  },
  // the home page of VitePress has no main landmark
  transformHtml: (html) => html.replace('class="VPHome"', 'class="VPHome" role="main"'),
  themeConfig: {
    logo: '/icon.svg',
    search: {
      provider: 'local',
      options: {
        // the index needs no colours in code
        miniSearch: {
          searchOptions: {
            combineWith: 'AND',
            boostDocument: rank,
          },
        },
        _render: (text, env, md) => md.render(searchable(text, env), env),
      },
    },
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '/guide/' },
      { text: 'Examples', link: '/examples/', activeMatch: '/examples/' },
      { text: 'Compare', link: '/exam' },
      { text: 'API', link: '/reference/', activeMatch: '/reference/' },
      { text: release, link: '/changelog' },
    ],
    ...(repositoryUrl !== undefined && { socialLinks: [{ icon: 'github', link: repositoryUrl }] }),
    sidebar: sidebar(),
    outline: [2, 3],
  },
})
