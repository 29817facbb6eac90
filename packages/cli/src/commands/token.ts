import { text } from 'node:stream/consumers'

import { type AccessToken, describeEvent, isTokenlaneError, type TokenManager } from '@tokenlane/core'

import type { Source } from '../application/application.ts'
import { withManager } from '../application/with-application.ts'
import type { tokenForms } from '../choices.ts'
import { exitStatus, WrongUsage } from '../exit-status.ts'
import { output, print } from '../print.ts'

export interface TokenOptions extends Source {
  readonly print: (typeof tokenForms)[number]
  readonly show?: boolean
}

/** What git asks of a credential helper, as the last argument: a token, to keep one that works, to drop one that does not. */
const gitOperations = new Set(['get', 'store', 'erase'])

/**
 * Prints an issuer's token in one form, and nothing else; returns the exit status. An application with one issuer needs no
 * name for it.
 *
 * @param given the name, and what git adds to it.
 * @throws WrongUsage if standard output is a terminal and `show` is not set, or if the issuer is not configured.
 */
export async function token(given: readonly (string | undefined)[], options: TokenOptions): Promise<number> {
  const named = given.filter((name) => name !== undefined)
  const isOfGit = options.print === 'git-credential' && gitOperations.has(named.at(-1) ?? '')
  const operation = isOfGit ? named.pop() : 'get'
  const [name, unknown] = named
  if (unknown !== undefined) throw new WrongUsage(`Too many arguments: ${unknown}`)
  if (operation !== 'get' && !(operation === 'erase' && options.cache)) return exitStatus.fine
  if (operation === 'get' && output.isTTY && !options.show)
    throw new WrongUsage(
      'A token printed to a terminal stays in its scrollback: pipe it somewhere, or use --show',
    )
  return withManager(options, async ({ tokens, configuration }) => {
    const names = configuration.issuers.map((issuer) => issuer.name)
    const issuer = name ?? (names.length === 1 ? names[0] : undefined)
    if (issuer === undefined) throw new WrongUsage(`Name an issuer: ${names.join(', ')}`)
    if (!names.includes(issuer))
      throw new WrongUsage(`Unknown issuer ${issuer}; allowed: ${names.join(', ')}`)
    tokens.observe((event) => event.type === 'store.failed' && console.error(describeEvent(event)))
    try {
      const found = await tokens.getToken(issuer)
      if (operation === 'get') print(tokenText(found, issuer, options.print))
      else if (await isRefusedByGit(found)) await replace(tokens, issuer)
      return exitStatus.fine
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      console.error(error.message)
      console.error('Run `tokenlane doctor` to find out why')
      return exitStatus.findings
    }
  })
}

/** Whether git says on standard input that this is the token that a server refused. */
async function isRefusedByGit({ value }: AccessToken): Promise<boolean> {
  const said = await text(process.stdin)
  return said.split('\n').some((line) => line === `password=${value}` || line === `credential=${value}`)
}

async function replace(tokens: TokenManager, issuer: string): Promise<void> {
  tokens.invalidate(issuer)
  await tokens.getToken(issuer)
}

export function tokenText(
  { value, expiresAt }: Pick<AccessToken, 'value' | 'expiresAt'>,
  issuer: string,
  form: TokenOptions['print'],
): string {
  if (form === 'header') return `Authorization: Bearer ${value}`
  if (form === 'env') return `${variableOf(issuer)}=${shellQuoted(value)}`
  if (form === 'json') return JSON.stringify({ issuer, accessToken: value, expiresAt })
  if (form === 'exec-credential') return JSON.stringify(execCredential(value, expiresAt))
  if (form === 'git-credential') return gitCredential(value, expiresAt)
  return value
}

/** What kubectl reads from a command that gives credentials, in the version of the API that it names. */
function execCredential(value: string, expiresAt: Date): object {
  const { KUBERNETES_EXEC_INFO: info = '{}' } = process.env
  const [, apiVersion = 'client.authentication.k8s.io/v1'] =
    /"apiVersion"\s*:\s*"(client\.authentication\.k8s\.io\/\w+)"/.exec(info) ?? []
  // Kubernetes reads RFC 3339 with seconds
  const expirationTimestamp = expiresAt.toISOString().replace(/\.\d+Z$/, 'Z')
  return { apiVersion, kind: 'ExecCredential', status: { token: value, expirationTimestamp } }
}

/**
 * Returns what git reads from a credential helper, without an empty line, so that a helper may add to it. Git from 2.46 on
 * sends the token as a bearer token; an older one sends it as a password, and needs a name of the user.
 */
function gitCredential(value: string, expiresAt: Date): string {
  const expiry = Math.floor(expiresAt.getTime() / 1_000)
  return [
    'capability[]=authtype',
    'authtype=Bearer',
    `credential=${value}`,
    'username=oauth2',
    `password=${value}`,
    `password_expiry_utc=${expiry}`,
  ].join('\n')
}

/** Returns the name of an issuer's variable: letters, digits and `_`, not beginning with a digit (POSIX). */
function variableOf(issuer: string): string {
  return `${issuer}_ACCESS_TOKEN`.replaceAll(/\W/g, '_').replace(/^\d/, '_$&').toUpperCase()
}

/** Returns a value as one word of a POSIX shell. A plain one stays as it is, since env files know no quotes. */
function shellQuoted(value: string): string {
  return /^[\w.+/=-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}
