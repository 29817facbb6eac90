// Diagrams: a `mermaid` block becomes an SVG when the site is built, in the colours of the page.
import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'

/**
 * Returns the diagram as an SVG without colours and fonts of its own: `theme/style.css` gives it those of the page,
 * light or dark. A `<style>` element would not survive: Vue removes it when the page comes alive.
 */
export function drawn(source: string): string {
  return renderMermaidSVG(source, { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', transparent: true })
    .replace(/<style>[^]*?<\/style>/, '')
    .replace(/ style="[^"]*"/, ' role="img"')
}

/** Makes Markdown draw its `mermaid` blocks. */
export function diagrams(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, options, env, self) ?? ''
    return `<div class="diagram" v-pre>${drawn(token.content)}</div>`
  }
}
