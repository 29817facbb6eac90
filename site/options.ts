// Each option of a table is a link to itself, so that others can link to it, and the search can lead to it.
import type { MarkdownRenderer } from 'vitepress'
import { slugOf } from './slug.ts'

/** Makes Markdown give each option its anchor; one whose anchor is taken gets a number behind it. */
export function optionAnchors(md: MarkdownRenderer): void {
  md.core.ruler.push('options', ({ tokens, Token }) => {
    const taken = new Set(tokens.map((token) => token.attrGet('id')))
    let inOptions = false
    for (const [index, { type }] of tokens.entries()) {
      if (type === 'table_open') inOptions = tokens[index + 4]?.content === 'option'
      const cell = tokens[index + 2]
      if (!inOptions || type !== 'tr_open' || cell?.children == null) continue
      cell.children = cell.children.flatMap((child) => {
        if (child.type !== 'code_inline') return [child]
        const slug = slugOf(child.content.replace(/ .+/, ''))
        let id = slug
        for (let count = 1; taken.has(id); count++) id = `${slug}-${count}`
        taken.add(id)
        const open = new Token('link_open', 'a', 1)
        open.attrs = [
          ['id', id],
          ['href', `#${id}`],
        ]
        return [open, child, new Token('link_close', 'a', -1)]
      })
    }
  })
}

/**
 * Returns a page for the index. On a page of the guide, each option is a section of its own, at the end of the one that
 * lists it.
 */
export function optionSections(html: string, page: string): string {
  if (!page.startsWith('guide/')) return html
  return html
    .split(/(?=<h[1-6])/)
    .map((section) => {
      const rows = section.matchAll(/<a id="([^"]+)" href="#\1"><code>([^ <]+)(?=(.+?)<\/tr>)/gs)
      const found = Array.from(rows, ([, id, name, text]) => `<h6>${name} <a href="#${id}"></a></h6>${text}`)
      return section + found.join('')
    })
    .join('')
}
