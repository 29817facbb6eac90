// The home page: the README below a head with the point, a start button and what was measured.
import { stringify } from 'yaml'

const head = {
  layout: 'home',
  titleTemplate: 'The right OAuth 2.0 token on every call',
  hero: {
    name: 'Tokenlane',
    text: 'The right OAuth 2.0 token on every call',
    tagline:
      'In the HTTP client that you already have: axios, got, ky, undici or fetch. At the rate that each API allows.',
    image: { src: '/icon.svg', alt: '' },
    actions: [
      { theme: 'brand', text: 'Start', link: '/guide/bootstrap' },
      { theme: 'alt', text: 'Try it on your machine', link: '#try-it' },
      { theme: 'alt', text: 'Compare', link: '/exam' },
    ],
  },
  features: [
    {
      title: 'One token request',
      details: 'for 10,000 first calls. Renewals happen in the background, while calls use the old token.',
      link: '/guide/bootstrap',
      linkText: 'Set it up',
    },
    {
      title: 'No call lost to a revocation',
      details: 'of 1,000 in flight. A secret is rotated without a restart and without an outage.',
      link: '/guide/rotate-secret',
      linkText: 'Rotate a secret',
    },
    {
      title: 'No response with 429',
      details: 'at 100 calls a second through a network that delays up to 200 ms.',
      link: '/guide/rate-policy',
      linkText: 'Set a rate policy',
    },
  ],
}

/** Returns the page for the README: its title and its first line stand in the head already. */
export function homePage(readme: string): string {
  const body = readme.replace(/^# .+\n+\*\*[^]+?\*\*\n+/, '')
  if (body === readme) throw new Error('README.md must begin with a heading and a line in bold')
  return `---\n${stringify(head)}---\n\n${body}`
}
