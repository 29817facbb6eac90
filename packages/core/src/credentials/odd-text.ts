const placeholder =
  /^(?:\$\{.*\}|\$\w+|\{\{.*\}\}|<.*>|\[.*\]|%\w+%|\*+|x{3,}|todo|(?:your|my|the)[-_ ].*|(?:change|replace|fill)[-_ ]?(?:me|this|in)\b.*)$/is

/** What looks wrong about text that was filled in by hand. */
export type Oddity = 'quotes' | 'placeholder' | 'white space'

export function oddityOf(text: string): Oddity | undefined {
  if (/^(["'`]).*\1$/s.test(text)) return 'quotes'
  if (placeholder.test(text)) return 'placeholder'
  return /\s/.test(text) ? 'white space' : undefined
}
