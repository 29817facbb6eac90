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
