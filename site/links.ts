// Links among the files of the repository become links among the pages of the site.
import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { exampleOf, pageOf, root, textAt } from './pages.ts'

const fence = /^(?<mark>`{3,}|~{3,})[^\n]*\n[^]*?^\k<mark>$/
const htmlImage = /(?<=<(?:img|source)\b[^>]*\b(?:src|srcset)=")(?<source>[^"]+)/
const link =
  /(?<open>\s\()?(?<image>!?)\[(?<label>(?:[^[\]]|\[[^\]]*\])*)\]\((?<target>[^()\s]+)\)(?<close>\)?)/
const found = new RegExp(`${fence.source}|${htmlImage.source}|${link.source}`, 'gm')

/**
 * Returns the text with its relative links as the site has them. A link to a file that is not a page becomes its text,
 * or nothing if parentheses hold nothing else.
 *
 * @param from path of the text in the repository.
 * @throws Error for a link to a file that does not exist.
 */
export function siteLinks(text: string, from: string): string {
  return text.replace(found, (whole: string, ...rest: unknown[]) => {
    const parts = rest.at(-1) as Partial<Record<string, string>>
    const { mark, source, open = '', image, label = '', target, close = '' } = parts
    if (mark !== undefined) return whole
    if (source !== undefined) return imageOnSite(source, from)
    if (target === undefined || /^(?:[a-z]+:|#)/i.test(target)) return whole
    const shown = image === '' ? linkOnSite(label, target, from) : picture(label, imageOnSite(target, from))
    return shown === label && open !== '' && close !== '' ? '' : `${open}${shown}${close}`
  })
}

/** A picture that has a narrow form beside it becomes both: phones show the narrow one. */
function picture(label: string, path: string): string {
  const narrow = path.replace(/\.svg$/, '-narrow.svg')
  if (narrow === path || !existsSync(`${root}docs${narrow}`)) return `![${label}](${path})`
  const alt = label.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return `<picture><source media="(max-width: 640px)" srcset="${narrow}"><img src="${path}" alt="${alt}"></picture>`
}

/** Pictures lie in docs/images, and on the site in /images. */
function imageOnSite(target: string, from: string): string {
  const path = posix.join(posix.dirname(from), target)
  if (!path.startsWith('docs/images/') || !existsSync(`${root}${path}`))
    throw new Error(`${from} shows ${target}, which is not in docs/images`)
  return path.slice('docs'.length)
}

function linkOnSite(label: string, target: string, from: string): string {
  const [file = '', anchor] = target.split('#')
  const path = posix.join(posix.dirname(from), file).replace(/\/$/, '')
  if (path.startsWith('..') || !existsSync(`${root}${path}`))
    throw new Error(`${from} links to ${target}, which does not exist`)
  const text = textAt(path)
  if (text !== undefined) return `[${label}](/${pageOf(text)}${anchor === undefined ? '' : `#${anchor}`})`
  const example = exampleOf(path)
  if (example === undefined) return label
  return `[${label}](/${pageOf(example)}#${posix.basename(path).replaceAll('.', '-')})`
}
