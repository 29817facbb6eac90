import footnote from 'markdown-it-footnote'
import { defineConfig } from 'vitepress'
import { diagrams } from '../mermaid.ts'
import { slugOf } from '../slug.ts'
import { sidebar } from './sidebar.ts'

export default defineConfig({
  title: 'Tokenlane',
  description:
    'The right OAuth 2.0 token on every call of axios, got, ky and fetch, at the rate that each API allows',
  lang: 'en',
  srcDir: 'generated',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  markdown: { anchor: { slugify: slugOf }, config: (md) => void md.use(footnote).use(diagrams) },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // the index needs no colours in code
        _render: (text, env, md) => md.render(text.replaceAll(/^```\w+$/gm, '```'), env),
      },
    },
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '/guide/' },
      { text: 'Examples', link: '/examples/', activeMatch: '/examples/' },
      { text: 'API', link: '/reference/', activeMatch: '/reference/' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
  },
})
