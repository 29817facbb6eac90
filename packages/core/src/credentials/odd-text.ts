const placeholder =
  /^(?:\$\{.*\}|\$\w+|\{\{.*\}\}|<.*>|\[.*\]|%\w+%|\*+|x{3,}|todo|(?:your|my|the)[-_ ].*|(?:change|replace|fill)[-_ ]?(?:me|this|in)\b.*)$/is

/** Returns what looks wrong about text that was filled in by hand, such as `is in quotes`, and quotes nothing of it. */
export function oddityOf(text: string): string | undefined {
  if (/^(["'`]).*\1$/s.test(text)) return 'is in quotes'
  if (placeholder.test(text)) return 'looks like a placeholder'
  return /\s/.test(text) ? 'has white space in it' : undefined
}
