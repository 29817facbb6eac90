// llms.txt: what each page is about, for programs that read the site (https://llmstxt.org).

/** Returns the list of pages with their titles and first sentences. */
export function llmsText(pages: ReadonlyMap<string, string>): string {
  const lines = Array.from(pages)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([page, text]) => {
      const title = /^# (.+)$/m.exec(text)?.[1] ?? page
      const link = `/${page.replace(/\.md$/, '.html')}`
      return `- [${plain(title)}](${link}): ${firstSentence(text)}`
    })
  return `# Tokenlane\n\n> The right OAuth 2.0 token on every axios, got, ky and fetch call, at the rate each API allows.\n\n## Pages\n\n${lines.join('\n')}\n`
}

/** Returns what a page says first, without its marks; empty for one that says nothing in sentences. */
export function firstSentence(text: string): string {
  const paragraph =
    text
      .replaceAll(/^```[^]*?^```$/gm, '')
      .split(/\n{2,}/)
      .find((part) => /^[\p{L}*`[]/u.test(part.trim())) ?? ''
  const sentences = plain(paragraph).split(/(?<=[.:!?]) (?=\p{Lu})/u)
  // how to install is the same everywhere
  return sentences.find((sentence) => !sentence.startsWith('Until the first release')) ?? ''
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
