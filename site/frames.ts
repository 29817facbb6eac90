// Tables scroll inside their frame, with the keyboard too; so do diagrams (mermaid.ts). Tables of sentences do not: on a
// phone, the cells of a row stand below each other, each under the head of its column, if there are several.
import type { MarkdownRenderer } from 'vitepress'

/** A cell that is longer than this, beside the first of its row, makes a table one of sentences. */
const longest = 40

/** Makes Markdown put each table into a frame that scrolls, and takes empty cells of its head for plain cells. */
export function frames(md: MarkdownRenderer): void {
  md.renderer.rules['table_open'] = (tokens, index) =>
    `<div class="frame${tokens[index]?.meta === 'sentences' ? ' sentences' : ''}" tabindex="0"><table>\n`
  md.renderer.rules['table_close'] = () => '</table></div>\n'
  md.core.ruler.push('tables', ({ tokens }) => {
    let table: (typeof tokens)[number] | undefined
    let heads: string[] = []
    let column = 0
    for (const [index, token] of tokens.entries()) {
      const [next, close] = [tokens[index + 1], tokens[index + 2]]
      const text = (next?.children ?? []).map(({ content }) => content).join('')
      if (token.type === 'table_open') [table, heads] = [token, []]
      if (token.type === 'tr_open') column = 0
      if (token.type === 'th_open') {
        heads.push(text)
        if (text === '' && close !== undefined) token.tag = close.tag = 'td'
      }
      if (token.type === 'td_open') {
        const head = heads[column] ?? ''
        if (column > 0 && head !== '' && heads.length > 2) token.attrSet('data-head', head)
        if (column > 0 && text.length > longest && table !== undefined) table.meta = 'sentences'
        column += 1
      }
    }
  })
}
