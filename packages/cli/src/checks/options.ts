import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { reasonIn } from '../reason.ts'
import { processFloor } from './tls-settings.ts'

/** Returns one finding for each option that `createTokenManager` refused. */
export function checkOptions({ refused }: Facts): Finding[] {
  return refused.map((error) => {
    const [seen = '', fix] = reasonIn(error).split(/; allowed: |(?<=unprotected); /, 2)
    if (seen.includes('this process allows TLS')) return processFloor(seen)
    const [, option = 'options'] = /`([\w.[\]]+)`/.exec(seen) ?? []
    const named = option === 'options' ? 'the option named above' : `\`${option}\``
    return finding('option-wrong', 'error', option, {
      seen,
      why: 'The application cannot start with it.',
      fix: fix === undefined ? fixOf(seen, named) : correction(named, fix),
    })
  })
}

function correction(option: string, fix: string): string {
  return fix.startsWith('use ') ? `Correct ${option}: ${fix}.` : `Correct ${option}. Allowed: ${fix}`
}

function fixOf(seen: string, option: string): string {
  return /environment variable/i.test(seen)
    ? 'Set the environment variables named above, or use --env-file.'
    : `Correct ${option}.`
}
