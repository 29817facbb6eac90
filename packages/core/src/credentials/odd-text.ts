import { own } from '../options/check.ts'
import type { ClientCredentials } from './credentials.ts'

const placeholder =
  /^(?:\$\{.*\}|\$\w+|\{\{.*\}\}|<.*>|\[.*\]|%\w+%|\*+|x{3,}|todo|(?:your|my|the)[-_ ].*|(?:change|replace|fill)[-_ ]?(?:me|this|in)\b.*)$/is

/** What looks wrong about text that was filled in by hand. */
export type Oddity = 'quotes' | 'placeholder' | 'white space'

export function oddityOf(text: string): Oddity | undefined {
  if (/^(["'`]).*\1$/s.test(text)) return 'quotes'
  if (placeholder.test(text)) return 'placeholder'
  return /\s/.test(text) ? 'white space' : undefined
}

const words: Readonly<Record<Oddity, string>> = {
  quotes: 'is in quotes',
  placeholder: 'looks like a placeholder',
  'white space': 'has white space in it',
}

/** Returns what looks wrong about a refused client's id and secret, to end a sentence. */
export function oddTextIn(client: ClientCredentials): string {
  const odd = (['clientId', 'clientSecret'] as const).flatMap((field) => {
    const text = own(client, field)
    const oddity = typeof text === 'string' ? oddityOf(text) : undefined
    return oddity === undefined ? [] : [`\`${field}\` ${words[oddity]}`]
  })
  return odd.length === 0 ? '' : `: ${odd.join(', and ')}`
}
