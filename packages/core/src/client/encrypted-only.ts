import { TokenlaneError } from '../errors.ts'
import { hidingAgent } from './hide-request.ts'

/**
 * Returns an agent for the `http:` requests of a call to an `https:` API, such as a redirect out of it, which must not have the
 * token. A client that makes no tunnel gives a proxy what is for the API as it is.
 */
export function encryptedOnly(given: unknown, authorization: string): unknown {
  const agent = given ?? process.getBuiltinModule('node:http').globalAgent
  return hidingAgent(agent, (request) => {
    if ((request as import('node:http').ClientRequest).getHeader('authorization') === authorization)
      throw new TokenlaneError(
        'INSECURE_TRANSPORT',
        'Cannot send call: this version of the client sends it to the proxy unencrypted; update it (axios: to 1.16 or later), ' +
          'or make the tunnel with an agent',
      )
  })
}

/** Of the package `proxy-from-env`, which axios asks. npm hands its own configuration to the scripts that it runs. */
const variables = ['https_proxy', 'all_proxy', 'npm_config_https_proxy', 'npm_config_proxy']

/** Whether the environment names a proxy for `https:` URLs, as clients look for it. */
export function namesProxy(): boolean {
  const { env } = process
  return variables.some((name) => Boolean(env[name] || env[name.toUpperCase()]))
}
