// The home page: the README below a head with the point and the ways on, and its code on the first screen.
import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { root } from './pages.ts'

interface Manifest {
  readonly version: string
  readonly repository?: { readonly url: string }
}

const { version, repository } = JSON.parse(
  readFileSync(`${root}packages/core/package.json`, 'utf8'),
) as Manifest

/** What a reader may install: a version that npm has is above 0.0.0. */
const release: string = version === '0.0.0' ? 'not on npm yet' : `v${version}`

/** Where the source is, for people; `undefined` until the manifests name it. */
export const repositoryUrl: string | undefined = repository?.url.replace(/^git\+|\.git$/g, '')

const head = {
  layout: 'home',
  titleTemplate: 'The right OAuth 2.0 token on every call',
  hero: {
    name: 'Tokenlane',
    text: 'The right OAuth 2.0 token on every call',
    tagline: `A Node library that works inside axios, got, ky, undici and fetch: it renews tokens, retries a call after a 401, and keeps within rate limits. (${release})`,
    actions: [
      { theme: 'brand', text: 'Get started', link: '/guide/bootstrap' },
      { theme: 'alt', text: 'Compare', link: '/compare' },
      { theme: 'alt', text: 'Keycloak, Okta, Entra ID …', link: '/guide/providers' },
    ],
  },
}

/**
 * Returns the page for the README: its title and its first line stand in the head already. Its first two blocks of code,
 * before and after, come first and stand side by side.
 */
export function homePage(readme: string): string {
  const body = readme.replace(/^# .+\n+\*\*[^]+?\*\*\n+/, '')
  if (body === readme) throw new Error('README.md must begin with a heading and a line in bold')
  const code = /^```js\n\/\/ before[^]+?^```\n+```ts\n\/\/ after[^]+?^```\n/m.exec(body)?.[0]
  if (code === undefined) throw new Error('README.md must show the code before and after')
  return `---\n${stringify(head)}---\n\n<div class="before-after">\n\n${code}\n</div>\n\n${body.replace(code, '')}`
}
