import type { ClientAuth } from 'oauth4webapi'
import { askFunction } from '../credentials/ask-provider.ts'
import { fromBase64url } from '../credentials/bytes.ts'
import { text } from '../credentials/client.ts'
import { type AssertionCredentials, unavailable } from '../credentials/credentials.ts'
import { assertionFile } from '../credentials/text-file.ts'
import { printable } from '../foreign-text.ts'
import { isRecord, isText, shape } from '../options/check.ts'
import type { AskedServer, ClientProof } from './protocol.ts'

const optional: ClientProof['optional'] = {
  assertionType: (value) =>
    typeof value === 'string' && /^[a-z\d]+(?:[:._-][a-z\d]+)*$/i.test(value)
      ? undefined
      : { given: 'not an assertion type', allowed: "'jwt-bearer', another name or a full URN" },
}

const typePrefix = 'urn:ietf:params:oauth:client-assertion-type:'

export function byAssertion(assertion: string, type = 'jwt-bearer'): ClientAuth {
  const urn = type.includes(':') ? type : typePrefix + type
  return (_server, client, body) => {
    body.set('client_id', client.client_id)
    body.set('client_assertion_type', urn)
    body.set('client_assertion', assertion)
  }
}

/** An assertion from outside (RFC 7521 §4.2), asked for anew in each token request. */
export const givenAssertion: ClientProof = {
  method: 'private_key_jwt',
  proof: 'assertion',
  needed: {
    assertion: (value) =>
      typeof value === 'function'
        ? undefined
        : { given: shape(value), allowed: 'a function, such as fileAssertion(path)' },
  },
  optional,
  inText: {
    needed: { assertionFile: text },
    optional,
    clientOf: ({ assertionFile: path, ...others }) => ({
      ...others,
      assertion: assertionFile(path as string),
    }),
  },
  async prove(client, server, { issuer, signal }) {
    const { assertion, assertionType: type = 'jwt-bearer' } = client as AssertionCredentials
    const context = { audience: server.audience, signal }
    const given = await askFunction('assertion function', () => assertion(context), issuer, signal)
    if (!isText(given)) {
      const found = given === undefined ? 'nothing' : shape(given)
      throw unavailable(issuer, `the assertion function returned ${found}`, { definite: true })
    }
    const fault = faultOf(given, type, server)
    if (fault !== undefined)
      throw unavailable(issuer, `the assertion ${fault.reason}`, { definite: fault.definite })
    return byAssertion(given, type)
  },
}

/** Returns why the server would refuse an assertion, as far as that can be read without a key (RFC 7519 §4.1). */
function faultOf(
  given: string,
  type: string,
  { audience, metadata, url, clock }: AskedServer,
): { readonly reason: string; readonly definite?: boolean } | undefined {
  if (!/^(?:urn:.*:)?jwt-/.test(type)) return undefined
  const parts = given.split('.')
  const isJwt = objectIn(parts[0]) !== undefined
  // encrypted: only the server reads it (RFC 7516 §7.1)
  if (isJwt && parts.length === 5) return undefined
  const claims = isJwt && parts.length === 3 ? objectIn(parts[1]) : undefined
  // a file that is just being written
  if (claims === undefined) return { reason: 'is not a JWT' }
  const { exp, aud } = claims
  const now = Date.now() + clock.ahead * 1_000
  if (typeof exp === 'number' && exp * 1_000 <= now)
    return {
      reason: `expired at ${new Date(exp * 1_000).toJSON()} (now ${new Date(now).toJSON()}): is it being renewed, and is this machine's clock right?`,
    }
  const named = [aud].flat().filter((one) => typeof one === 'string')
  const accepted = new Set([audience, metadata.issuer, metadata.token_endpoint, url.href])
  if (named.length === 0 || named.some((one) => accepted.has(one))) return undefined
  return {
    reason: `has the wrong audience (${printable(named.join(', '))}): request it for ${printable(audience)}, or set \`assertionAudience\``,
    definite: true,
  }
}

function objectIn(part = ''): Readonly<Record<string, unknown>> | undefined {
  if (!/^[\w-]+$/.test(part)) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64url(part)))
    return isRecord(value) && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
