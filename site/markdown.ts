import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'

// Code blocks of one language that directly follow each other, such as one for each client, become tabs.

const block = /^```(\w+)\n(?:\/\/|#) ([^\n]+)\n([^]*?)^```\n/gm

interface Block {
  readonly language: string
  readonly start: number
  readonly end: number
  readonly tab: string
}

/** Returns the text with its tabs; each has the name that the comment in the first line of its block gives. */
export function withTabs(text: string): string {
  const groups: Block[][] = []
  for (const match of text.matchAll(block)) {
    const [whole, language = '', name = '', code = ''] = match
    const tab = `\`\`\`${language} [${name}]\n${code.replace(/^\n/, '')}\`\`\`\n`
    const next = { language, start: match.index, end: match.index + whole.length, tab }
    const group = groups.at(-1)
    const last = group?.at(-1)
    const follows = last?.language === language && text.slice(last.end, next.start) === '\n'
    if (follows) group?.push(next)
    else groups.push([next])
  }
  let tabbed = text
  for (const group of groups.toReversed()) {
    const [first, last] = [group[0], group.at(-1)]
    if (first === undefined || last === undefined || group.length < 2) continue
    const tabs = group.map(({ tab }) => tab).join('\n')
    tabbed = `${tabbed.slice(0, first.start)}::: code-group\n\n${tabs}\n:::\n${tabbed.slice(last.end)}`
  }
  return tabbed
}

// Tables scroll inside their frame, with the keyboard too; so do diagrams. Tables of sentences do not: on a
// phone, the cells of a row stand below each other, each under the head of its column, if there are several.
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

// Diagrams: a `mermaid` block becomes an SVG when the site is built, in the colours of the page.
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

// A block that installs packages becomes tabs, one for each package manager.

const managers = {
  npm: { install: 'npm install', dev: '--save-dev' },
  pnpm: { install: 'pnpm add', dev: '--save-dev' },
  yarn: { install: 'yarn add', dev: '--dev' },
  bun: { install: 'bun add', dev: '--dev' },
}

const installing = /^```sh\nnpm install (?<packages>[-@\w][^\n&|;]*)\n```\n/gm

/** Returns the text with a tab for each package manager where a block is one `npm install` of packages. */
export function withPackageManagers(text: string): string {
  return text.replaceAll(installing, (_, packages: string) => {
    const tabs = Object.entries(managers).map(([name, { install, dev }]) => {
      const options = packages.replace(/--save-dev|-D\b/, dev)
      return `\`\`\`sh [${name}]\n${install} ${options}\n\`\`\`\n`
    })
    return `::: code-group\n\n${tabs.join('\n')}\n:::\n`
  })
}

// Anchors of headings as forges make them, so that a link such as troubleshoot.md#token_request_failed works in both.

/** Returns the anchor of a heading: its letters and digits, `_` as it stands, `-` for what lies between. */
export function slugOf(heading: string): string {
  return heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .replace(/^(\d)/, '_$1')
}
