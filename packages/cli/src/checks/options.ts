import { missingText } from '../application/from-environment.ts'
import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { reasonIn } from '../reason.ts'
import { processFloor } from './tls-settings.ts'

/** Returns one finding for each option that `createTokenManager` refused, and one for all APIs without a URL. */
export function checkOptions({ refused, missingApis }: Facts): Finding[] {
  const ofRefused = refused.map((error) => {
    const reason = reasonIn(error)
    const [readBy = '', path] = / \(read by `([^`]+)`\)$/.exec(reason) ?? []
    const [seen = '', fix] = reason
      .slice(0, reason.length - readBy.length)
      .split(/; allowed: |(?<=unsafe for secrets and tokens); /, 2)
    if (seen.includes('this process allows TLS')) return processFloor(seen)
    const option = path ?? /`([\w.[\]]+)`/.exec(seen)?.[1]
    const place = Array.from(seen.matchAll(/(?:environment variable|file) ([^\s:]+)/g)).at(-1)?.[1]
    const named = place ?? (option === undefined ? 'the option named above' : `\`${option}\``)
    const [missing, several] = /^Missing environment variable(s)?|is missing$/.exec(seen) ?? []
    return finding('option-wrong', 'error', option ?? (missing ? environment : 'options'), {
      seen: `${seen.charAt(0).toUpperCase()}${seen.slice(1)}.`,
      why: `The application cannot start ${missing ? 'without' : 'with'} ${several ? 'them' : 'it'}.`,
      fix: fix === undefined ? fixOf(seen, named) : correction(missing ? 'Set' : 'Correct', named, fix),
    })
  })
  if (missingApis.length === 0) return ofRefused
  const seen = `${missingText(missingApis)}.`
  const ofApis = {
    seen,
    why: 'Calls to that API are sent without a token.',
    fix: `${fixOf(seen, '')} To check the issuer alone, pass its URL as an option.`,
  }
  return [...ofRefused, finding('option-wrong', 'warning', environment, ofApis)]
}

const environment = 'environment variables'

function correction(verb: string, option: string, fix: string): string {
  return fix.startsWith('use ') ? `${verb} ${option}: ${fix}.` : `${verb} ${option}. Allowed: ${fix}.`
}

function fixOf(seen: string, option: string): string {
  if (/environment variable/i.test(seen))
    return 'Set the environment variables named above, or use --env-file.'
  return seen.endsWith('is missing') ? `Create ${option}, or correct its path.` : `Correct ${option}.`
}
