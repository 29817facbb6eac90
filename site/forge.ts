// Texts of the repository as a forge shows them: GitHub's Markdown and style, in the column beside its side bar.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import MarkdownIt from 'markdown-it'
import { drawn } from './mermaid.ts'
import { slugOf } from './slug.ts'

const style = readFileSync(
  createRequire(import.meta.url).resolve('github-markdown-css/github-markdown.css'),
  'utf8',
)
const frame = `
  body { margin: 16px; background: light-dark(#fff, #0d1117) }
  :root { color-scheme: light dark }
  .markdown-body { box-sizing: border-box; max-width: 896px; margin: 0 auto; padding: 32px; border: 1px solid light-dark(#d1d9e0, #3d444d) }
  @media (max-width: 640px) { .markdown-body { padding: 16px } }
  .diagram { margin-bottom: 16px; text-align: center }
  .diagram svg { max-width: 100%; height: auto; --bg: transparent; --_text: currentColor; --_text-sec: currentColor;
    --_line: #767f89; --_arrow: #767f89; --_node-fill: transparent; --_node-stroke: #767f89; --_inner-stroke: #767f89 }`

const markdown = new MarkdownIt({ html: true, linkify: true })
const { fence } = markdown.renderer.rules
markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
  const token = tokens[index]
  if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, options, env, self) ?? ''
  return `<div class="diagram">${drawn(token.content)}</div>`
}
markdown.renderer.rules['heading_open'] = (tokens, index) =>
  `<${tokens[index]?.tag} id="${slugOf(tokens[index + 1]?.content ?? '')}">`

/** Returns a text as the HTML page of a forge. A forge draws diagrams in its own colours, but of the same size. */
export function forgePage(text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A text on a forge</title><style>${style}${frame}</style><main class="markdown-body">${markdown.render(text)}</main></html>`
}
