// The pages that packages bring, so that a user who has only `node_modules` can open what messages and alerts point to.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

const root = new URL('../', import.meta.url)

const pages = [
  'batch',
  'doctor',
  'fleet',
  'frequent-starts',
  'metrics',
  'observe',
  'options',
  'providers',
  'proxy',
  'rate-policy',
  'rotate-secret',
  'test-your-app',
  'token-life',
  'workload-identity',
]

/** Each page's copy. */
const copies = new Map([
  ['docs/guide/troubleshoot.md', 'packages/core/troubleshoot.md'],
  ...pages.map((page) => [`docs/guide/${page}.md`, `packages/cli/guide/${page}.md`] as const),
  ['docs/support.md', 'packages/cli/guide/support.md'],
])

/** Returns the text of each copy, by its path in the repository. */
export function shippedPages(): ReadonlyMap<string, string> {
  return new Map(
    Array.from(copies, ([page, copy]) => {
      const text = readFileSync(new URL(page, root), 'utf8')
      // only a command brings these pages, so an application may lack them
      const note = 'Pages in `node_modules/tokenlane` come with `npm install --save-dev tokenlane`.'
      const noted = copy.startsWith('packages/core/') ? text.replace('\n', () => `\n\n${note}\n`) : text
      return [copy, withPlaces(noted, page, copy)]
    }),
  )
}

/**
 * Returns the text with its links as they are in the package: to another page of the package as before, to one of another
 * package its path, and to anything else only the words.
 */
function withPlaces(text: string, page: string, copy: string): string {
  return text.replaceAll(
    /!?\[([^\]]+)\]\((?!https:|#)([^)#]+)(#[^)]+)?\)/g,
    (_, words: string, target: string, section = '') => {
      const place = placeOf(posix.join(posix.dirname(page), target))
      if (place === undefined) return words
      if (packageOf(place) !== packageOf(copy)) return `${words} (\`${installed(place)}${section}\`)`
      return `[${words}](${posix.relative(posix.dirname(copy), place)}${section})`
    },
  )
}

function placeOf(path: string): string | undefined {
  const [readme] = /^packages\/\w+(?=$|\/README\.md$)/.exec(path) ?? []
  return readme === undefined ? copies.get(path) : `${readme}/README.md`
}

function packageOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}

/** Returns where an application has a file of a package. */
function installed(path: string): string {
  return path
    .replace(/^packages\/cli/, 'node_modules/tokenlane')
    .replace(/^packages/, 'node_modules/@tokenlane')
}
