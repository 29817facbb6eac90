import { type AccessToken, isTokenlaneError } from '@tokenlane/core'

import type { Source } from '../application/application.ts'
import { mustLoad } from '../application/must-load.ts'
import { exitStatus, WrongUsage } from '../exit-status.ts'
import { print } from '../print.ts'

/** The forms in which the command prints a token. */
export const tokenForms = ['token', 'header', 'env', 'json'] as const

export interface TokenOptions extends Source {
  readonly print: (typeof tokenForms)[number]
  /** Whether the token may appear on a terminal. */
  readonly show?: boolean
}

/**
 * Prints an issuer's token in one form, and nothing else; returns the exit status.
 *
 * @throws WrongUsage if standard output is a terminal and `show` is not set, or if the issuer is not configured.
 */
export async function token(issuer: string, options: TokenOptions): Promise<number> {
  if (process.stdout.isTTY && !options.show)
    throw new WrongUsage('A token on a terminal stays in its history: pipe it somewhere, or give --show')
  const { tokens, configuration } = await mustLoad(options)
  const names = configuration.issuers.map(({ name }) => name)
  if (!names.includes(issuer)) throw new WrongUsage(`Unknown issuer ${issuer}; allowed: ${names.join(', ')}`)
  try {
    print(textOf(await tokens.getToken(issuer), issuer, options.print))
    return exitStatus.fine
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    console.error(error.message)
    console.error('See tokenlane doctor')
    return exitStatus.findings
  } finally {
    await tokens.close()
  }
}

function textOf({ value, expiresAt }: AccessToken, issuer: string, form: TokenOptions['print']): string {
  if (form === 'header') return `Authorization: Bearer ${value}`
  if (form === 'env') return `${issuer.replaceAll(/\W/g, '_').toUpperCase()}_ACCESS_TOKEN=${value}`
  if (form === 'json') return JSON.stringify({ issuer, accessToken: value, expiresAt })
  return value
}
