// Diagrams: a `mermaid` block becomes an SVG when the site is built, in the colours of the page.
import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'

const title = /^ *accTitle: *(.+)\n/m

/**
 * Returns the diagram as an SVG named by its `accTitle`, without colours and fonts of its own: `theme/style.css` gives it those of the page,
 * light or dark. A `<style>` element would not survive: Vue removes it when the page comes alive.
 *
 * @throws Error for a diagram without `accTitle`, which says what there is to see to readers who cannot see it.
 */
export function drawn(source: string): string {
  const [line = '', label] = title.exec(source) ?? []
  if (label === undefined) throw new Error(`a diagram needs a line "accTitle: …": ${source}`)
  return renderMermaidSVG(source.replace(line, ''), {
    bg: 'var(--vp-c-bg)',
    fg: 'var(--vp-c-text-1)',
    transparent: true,
  })
    .replace(/<style>[^]*?<\/style>/, '')
    .replace(/ style="[^"]*"/, ` role="img" aria-label="${label.replaceAll('"', '&quot;')}"`)
}

/** Makes Markdown draw its `mermaid` blocks. */
export function diagrams(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, options, env, self) ?? ''
    return `<div class="diagram" tabindex="0" v-pre>${drawn(token.content)}</div>`
  }
}
