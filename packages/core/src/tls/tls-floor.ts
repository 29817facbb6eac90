import { TokenlaneError } from '../errors.ts'
import { builtinModule } from '../runtime/builtin-module.ts'

/** The lowest TLS version that secrets and tokens travel over. */
const lowest = 'TLSv1.2'
const old = new Set<string | undefined>(['TLSv1', 'TLSv1.1'])

/** Node's module; `undefined` where the runtime has none. */
const tls = builtinModule('node:tls') as typeof import('node:tls') | undefined

/**
 * Throws for a call to an `https:` URL that could use TLS below 1.2, because its client's settings or the process allow it.
 *
 * @param given TLS settings, keyed by the client option that they come from, for the message. Values that are not objects pass.
 * @throws TokenlaneError `INSECURE_TRANSPORT`, naming option and setting.
 */
export function mustKeepFloor(url: string, given?: Readonly<Record<string, unknown>>): void {
  if (!url.startsWith('https:')) return
  const faults =
    given &&
    Object.entries(given).flatMap(([option, settings]) => {
      const weak = weakness(settings ?? {})
      return weak === undefined ? [] : [`\`${option}\` has ${weak}; allowed: ${lowest} or later`]
    })
  const fault = faults?.[0] ?? faultOfProcess()
  if (fault !== undefined) throw new TokenlaneError('INSECURE_TRANSPORT', `Cannot send call: ${fault}`)
}

/**
 * Returns what is wrong, and its fix, where connections that name no TLS version would go below TLS 1.2.
 *
 * `node --tls-min-v1.0` sets that for the whole process, and any code can at any time. Connections that name a version
 * themselves do not make up for it: redirects, retries and other agents may not.
 */
export function faultOfProcess(): string | undefined {
  const version = tls?.DEFAULT_MIN_VERSION
  if (!old.has(version)) return undefined
  return (
    `this process allows TLS below 1.2 (\`tls.DEFAULT_MIN_VERSION\` is '${version}'): start Node without ` +
    '`--tls-min-v1.0` and `--tls-min-v1.1`; check NODE_OPTIONS too'
  )
}

/**
 * Returns an agent's TLS settings, keyed by the client option that takes the agent; without one, those of the global agent
 * of `node:https`.
 */
export function agentSettings(agent: unknown, option: string): Readonly<Record<string, unknown>> {
  if (agent !== undefined && agent !== null) return { [option]: (agent as { options?: object }).options }
  const https = builtinModule('node:https') as typeof import('node:https') | undefined
  return { 'https.globalAgent': https?.globalAgent.options }
}

/** Returns the setting of `tls.connect` that allows TLS 1.0 or 1.1, as text for the message. */
function weakness(settings: object): string | undefined {
  const { minVersion, maxVersion, secureProtocol } = settings as Readonly<Record<string, string | undefined>>
  if (old.has(minVersion)) return `\`minVersion: '${minVersion}'\``
  if (old.has(maxVersion)) return `\`maxVersion: '${maxVersion}'\``
  // TLS_method is any version, TLSv1_method and TLSv1_1_method are that one
  return secureProtocol !== undefined && /^TLS(?!v1_2)\w{1,32}$/.test(secureProtocol)
    ? `\`secureProtocol: '${secureProtocol}'\``
    : undefined
}
