import { readFileSync } from 'node:fs'
import footnote from 'markdown-it-footnote'
import { defineConfig } from 'vitepress'
import { diagrams, frames, slugOf } from '../markdown.ts'
import { repositoryUrl } from '../home.ts'
import { firstSentence } from '../llms.ts'
import { searchOptions } from '../search.ts'
import { sidebar } from '../sidebar.ts'

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
  vite: {
    plugins: [
      {
        // neither the home page of VitePress nor its page for lost readers has a main landmark
        name: 'landmarks',
        enforce: 'pre',
        transform: (code, id) =>
          /(?:VPHome|NotFound)\.vue$/.test(id)
            ? code.replace(/class="(?:VPHome|NotFound)"/, '$& role="main"')
            : undefined,
      },
    ],
  },
  transformPageData({ relativePath, frontmatter, title }, { siteConfig: { srcDir } }) {
    if (frontmatter['layout'] === 'home' || relativePath === '404.md') return undefined
    const description = firstSentence(readFileSync(`${srcDir}/${relativePath}`, 'utf8'))
    return { description: description === '' ? `${title}, a part of Tokenlane` : description }
  },
  transformHead: ({ title, description }) => [
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: 'Tokenlane' }],
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: description }],
  ],
  themeConfig: {
    logo: '/icon.svg',
    search: {
      provider: 'local',
      options: {
        // results with the text around what was found
        detailedView: true,
        miniSearch: { searchOptions },
        // of the API reference only one result for each entry point, with its names
        _render: (text, env, md) => {
          if (!(env.relativePath ?? '').startsWith('reference/')) return md.render(text, env)
          const [title = '', ...names] = text.match(/^#{1,3} .+$/gm) ?? []
          return md.render(`${title}\n\n${names.join(' ').replaceAll('#', '')}`, env)
        },
      },
    },
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '/guide/(?!troubleshoot)' },
      { text: 'Examples', link: '/examples/', activeMatch: '/examples/' },
      { text: 'Compare', link: '/compare' },
      { text: 'API', link: '/reference/', activeMatch: '/reference/' },
      { text: 'Troubleshoot', link: '/guide/troubleshoot' },
      { text: 'Changelog', link: '/changelog' },
    ],
    ...(repositoryUrl !== undefined && { socialLinks: [{ icon: 'github', link: repositoryUrl }] }),
    sidebar: sidebar(),
    outline: [2, 3],
    notFound: {
      title: 'This page does not exist',
      quote: 'It may have been renamed. The search above finds pages by error codes, options and tasks.',
      linkLabel: 'To the home page',
      linkText: 'To the home page',
    },
  },
})
