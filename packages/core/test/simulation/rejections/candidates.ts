import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

import type { play } from './play.ts'

/** A rule that was considered: the rule as it is, with a change in its code. */
export interface Candidate {
  readonly name: string
  /** What stands in the code once, and what stands there instead. */
  readonly changes: Readonly<Record<string, string>>
}

export const candidates: readonly Candidate[] = [
  {
    name: 'after a renewal that did not help, the next is due after 8 to 12 s, and each further one after a minute (instead of 2 to 3 s, then twice as long each time)',
    changes: { '2 * longer *': '8 * longer *', '>= 4 * second': '> 12 * second' },
  },
  {
    name: 'no delay between renewals is random',
    changes: { 'Math.random() / 2': '0' },
  },
  {
    name: 'every delay between renewals is random',
    changes: {
      'this.#api.token.rejectedAt + this.#renewalDistance': `this.#api.token.rejectedAt + this.#renewalDistance +
        (this.#renewalDistance === second ? this.#api.token.rejectedAt % 500 || 0 : 0)`,
    },
  },
  {
    name: 'no call is resent immediately',
    changes: { 'mayResend && resends === 0': 'false' },
  },
  {
    name: 'every refused call is resent immediately',
    changes: { 'mayGoAtOnce && (isDoubted || (isFirst && !judgement.isNew))': 'mayGoAtOnce' },
  },
  {
    name: 'if an API refuses good tokens, a refused call waits even if no other call was refused before it',
    changes: { '(isDoubted && isFirst) || ': '' },
  },
]

const rule = new URL('../../../src/send/rejections.ts', import.meta.url)

/**
 * Returns the code of the rule as the candidate has it.
 *
 * @throws Error if the rule has no such place, or several.
 */
export function codeOf({ name, changes }: Candidate): string {
  let code = readFileSync(rule, 'utf8')
  for (const [from, to] of Object.entries(changes)) {
    const [before, after, ...more] = code.split(from)
    if (before === undefined || after === undefined || more.length > 0)
      throw new Error(`Cannot change the rule to "${name}": it has not one place with: ${from}`)
    code = before + to + after
  }
  return code
}

/** Returns `play` with a library of its own, whose rule is the candidate's. */
export async function playOf(candidate: Candidate): Promise<typeof play> {
  const code = codeOf(candidate)
  const query = `?candidate=${candidates.indexOf(candidate)}`
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const isOfCandidate = specifier.startsWith('.') && context.parentURL?.endsWith(query) === true
      return isOfCandidate ? { ...resolved, url: resolved.url + query } : resolved
    },
    load(url, context, next) {
      const isRule = url === rule.href + query
      return isRule ? { format: 'module-typescript', source: code, shortCircuit: true } : next(url, context)
    },
  })
  try {
    const loaded = (await import(`./play.ts${query}`)) as { play: typeof play }
    return loaded.play
  } finally {
    hooks.deregister()
  }
}
