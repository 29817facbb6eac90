// Tables scroll inside their frame, with the keyboard too; so do diagrams (mermaid.ts).
import type { MarkdownRenderer } from 'vitepress'

/** Makes Markdown put each table into a frame that scrolls, and takes empty cells of its head for plain cells. */
export function frames(md: MarkdownRenderer): void {
  md.renderer.rules['table_open'] = () => '<div class="frame" tabindex="0"><table>\n'
  md.renderer.rules['table_close'] = () => '</table></div>\n'
  md.core.ruler.push('empty-heads', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue
      token.tag = 'td'
      const close = tokens[index + 2]
      if (close !== undefined) close.tag = 'td'
    }
  })
}
