import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

import type { play } from './play.ts'

/** A rule that was considered: the rule as it is, with one change in its code. */
export interface Candidate {
  readonly name: string
  readonly from: string
  readonly to: string
}

export const candidates: readonly Candidate[] = [
  {
    name: 'after renewals in vain 8 and 60 s',
    from: '2 ** this.#inVain',
    to: '8 ** this.#inVain',
  },
  {
    name: 'no random distance',
    from: 'Math.random() / 2',
    to: '0',
  },
  {
    name: 'each distance random',
    from: 'this.#inVain === 0 ? 1 :',
    to: 'this.#inVain === 0 ? 1 + this.#extra :',
  },
  {
    name: 'no call goes at once',
    from: 'if (resends === 0 && (isDoubted || (isFirst && !judgement.isNew))) return 0',
    to: '',
  },
  {
    name: 'each refused call goes at once',
    from: 'if (resends === 0 && (isDoubted || (isFirst && !judgement.isNew))) return 0',
    to: 'if (resends === 0) return 0',
  },
  {
    name: 'calls wait for an API that refuses good tokens',
    from: 'if (isDoubted && (attempt.refusedSince !== since || judgement.calls < 2)) return undefined',
    to: '',
  },
]

const rule = new URL('../../../src/send/rejections.ts', import.meta.url)

/**
 * Returns the code of the rule as the candidate has it.
 *
 * @throws Error if the rule has no such place, or several.
 */
export function codeOf({ name, from, to }: Candidate): string {
  const [before, after, ...more] = readFileSync(rule, 'utf8').split(from)
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`Cannot change the rule to "${name}": it has not one place with: ${from}`)
  return before + to + after
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
