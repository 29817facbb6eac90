import { TokenlaneError } from '../errors.ts'
import { builtinModule } from '../runtime/builtin-module.ts'

/** The lowest TLS version that secrets and tokens travel over. */
const lowest = 'TLSv1.2'

/** Throws the error of a connection that must not be made. By default that of a call. */
export type RefuseTls = (reason: string) => never

export const refuseCall: RefuseTls = (reason) => {
  throw new TokenlaneError('INSECURE_TRANSPORT', `Cannot send call: ${reason}`)
}

/**
 * Throws where connections that name no TLS version would go below TLS 1.2.
 *
 * `node --tls-min-v1.0` sets that for the whole process, and any code can at any time. Connections that name a version
 * themselves do not make up for it: redirects, retries and other agents may not.
 *
 * @throws TokenlaneError `INSECURE_TRANSPORT`, with the fix.
 */
export function processMustKeepFloor(refuse: RefuseTls = refuseCall): void {
  if (tls === undefined) tls = (builtinModule('node:tls') as Tls | undefined) ?? null
  const version: unknown = tls?.DEFAULT_MIN_VERSION
  if (isOld(version))
    refuse(
      `this process allows TLS below 1.2 (\`tls.DEFAULT_MIN_VERSION\` is '${version}'); allowed: '${lowest}' or ` +
        'later. Start Node without `--tls-min-v1.0` and `--tls-min-v1.1`, also in NODE_OPTIONS, and give ' +
        '`minVersion` to the agent of the one server that needs an older version',
    )
}

interface Tls {
  readonly DEFAULT_MIN_VERSION?: unknown
}

/** Node's module; `null` where the runtime has none. */
let tls: Tls | null | undefined

/** What `tls.connect`, and what is built on it, reads to agree on a version. */
interface TlsSettings {
  readonly minVersion?: unknown
  readonly maxVersion?: unknown
  readonly secureProtocol?: unknown
  readonly secureContext?: unknown
}

/**
 * Throws for TLS settings that allow TLS 1.0 or 1.1, and in a process that does.
 *
 * @param option where the settings come from, for the message.
 * @throws TokenlaneError `INSECURE_TRANSPORT`, naming option and setting.
 */
export function settingsMustKeepFloor(
  settings: unknown,
  option: string,
  refuse: RefuseTls = refuseCall,
): void {
  const weak = weakness(settings ?? {})
  if (weak !== undefined) refuse(`\`${option}\` has ${weak}; allowed: ${lowest} or later`)
  processMustKeepFloor(refuse)
}

/** Returns the setting that allows TLS 1.0 or 1.1, as text for the message. */
function weakness({
  minVersion,
  maxVersion,
  secureProtocol,
  secureContext,
}: TlsSettings): string | undefined {
  if (isOld(minVersion)) return `\`minVersion: '${minVersion}'\``
  if (isOld(maxVersion)) return `\`maxVersion: '${maxVersion}'\``
  // TLS_method is any version, TLSv1_method and TLSv1_1_method are that one
  if (typeof secureProtocol === 'string' && /^TLS(?!v1_2)\w{1,32}$/.test(secureProtocol))
    return `\`secureProtocol: '${secureProtocol}'\``
  return isOldContext(secureContext) ? 'a `secureContext` for older versions' : undefined
}

function isOld(version: unknown): version is string {
  return version === 'TLSv1' || version === 'TLSv1.1'
}

/** Node's contexts return their lowest version as OpenSSL counts (0x0303 is TLS 1.2); this is undocumented. */
function isOldContext(secureContext: unknown): boolean {
  const { context } = (secureContext ?? {}) as { context?: { getMinProto?: () => unknown } }
  const version = context?.getMinProto?.()
  return typeof version === 'number' && version < 0x03_03
}
