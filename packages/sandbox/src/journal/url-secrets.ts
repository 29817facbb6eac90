import type { Flaw } from './entry.ts'

/** Returns which secret a text is; `undefined` if a URL may contain it. */
export type Recognize = (text: string) => 'token' | 'secret' | undefined

/** A request's path as it may be shown, and what its URL should not have contained. */
export interface JudgedUrl {
  path: string
  flaws: Flaw[]
}

const longestShown = 200
const words: Record<string, Flaw> = {
  access_token: 'token-in-url',
  client_secret: 'secret-in-url',
}

/**
 * Looks for tokens and secrets in a request's target, because logs, proxies and histories keep URLs (RFC 9700 §4.3.2).
 * Returns the path without them, and what was found.
 */
export function judgeUrl(url: string, recognize: Recognize): JudgedUrl {
  const [path = '', query = ''] = url.split(/\?(.*)/s)
  const flaws = new Set<Flaw>()
  const isSecret = (text: string): boolean => {
    // every token and secret is longer than that
    const found = text.length < 20 ? undefined : recognize(text)
    if (found !== undefined) flaws.add(found === 'token' ? 'token-in-url' : 'secret-in-url')
    return found !== undefined
  }
  for (const [name, value] of new URLSearchParams(query)) {
    const flaw = words[name.toLowerCase()]
    if (flaw !== undefined) flaws.add(flaw)
    isSecret(value)
  }
  const segments = path.split('/').map((segment) => (isSecret(segment) ? '[redacted]' : segment))
  const shown = segments.join('/')
  return {
    path: shown.length > longestShown ? `${shown.slice(0, longestShown)}…` : shown,
    flaws: [...flaws],
  }
}
