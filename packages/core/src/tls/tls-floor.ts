import { TokenlaneError } from '../errors.ts'

/** The lowest TLS version that secrets and tokens travel over. */
export const lowestTls = 'TLSv1.2'

/** How a connection that must not be made is told: by default as the failure of a call. */
export type RefuseTls = (reason: string) => never

/** What `tls.connect` and what is built on it read to agree on a version. */
interface TlsSettings {
  readonly minVersion?: unknown
  readonly maxVersion?: unknown
  readonly secureProtocol?: unknown
  readonly secureContext?: unknown
}

/**
 * The rule for a connection that is made with such settings: nothing below TLS 1.2.
 *
 * @param option where the settings come from, for the message.
 * @returns the `minVersion` to add, `undefined` where the settings or else the process keep to the rule already.
 * @throws TokenlaneError `INSECURE_TRANSPORT` for settings that allow TLS 1.0 or 1.1, naming option and setting.
 */
export function tlsFloor(
  settings: unknown,
  option: string,
  refuse: RefuseTls = refuseCall,
): typeof lowestTls | undefined {
  const weak = weakness(settings)
  if (weak !== undefined) refuse(`\`${option}\` has ${weak}; allowed: ${lowestTls} or later`)
  return processFloor() === undefined || namesFloor(settings) ? undefined : lowestTls
}

export const refuseCall: RefuseTls = (reason) => {
  throw new TokenlaneError('INSECURE_TRANSPORT', `Cannot send call: ${reason}`)
}

/** For what needs a `minVersion` and cannot be given one from here. */
export function refuseOpen(option: string, setting: string, refuse: RefuseTls = refuseCall): never {
  return refuse(
    `\`${option}\` leaves the lowest TLS version to the process, where \`tls.DEFAULT_MIN_VERSION\` is ` +
      `'${processFloor()}'; allowed: ${lowestTls} or later, such as \`${setting}\``,
  )
}

/** What of these settings allows TLS 1.0 or 1.1, whatever the process does. */
export function weakness(settings: unknown): string | undefined {
  const { minVersion, maxVersion, secureProtocol, secureContext } = (settings ?? {}) as TlsSettings
  if (isOld(minVersion)) return `\`minVersion: '${minVersion}'\``
  if (isOld(maxVersion)) return `\`maxVersion: '${maxVersion}'\``
  // TLS_method is any version, TLSv1_method and TLSv1_1_method are that one
  if (typeof secureProtocol === 'string' && /^TLS(?!v1_2)\w{1,32}$/.test(secureProtocol))
    return `\`secureProtocol: '${secureProtocol}'\``
  const made = contextFloor(secureContext)
  return made !== undefined && made < 0x03_03 ? 'a `secureContext` for older versions' : undefined
}

/** Whether settings that have no weakness decide the lowest version themselves. */
export function namesFloor(settings: unknown): boolean {
  const { minVersion, secureContext } = (settings ?? {}) as TlsSettings
  return typeof minVersion === 'string' || contextFloor(secureContext) !== undefined
}

/**
 * The lowest version of connections that name none, if that is too low. `--tls-min-v1.0` sets it, and so can any
 * code at any time.
 */
export function processFloor(): string | undefined {
  // of Node, and at hand where a runtime has it
  tls ??= globalThis.process?.getBuiltinModule?.('node:tls')
  const version: unknown = tls?.DEFAULT_MIN_VERSION
  return isOld(version) ? version : undefined
}

let tls: { readonly DEFAULT_MIN_VERSION?: unknown } | undefined

function isOld(version: unknown): version is string {
  return version === 'TLSv1' || version === 'TLSv1.1'
}

/** As OpenSSL counts: 0x0303 is TLS 1.2, 0 is any. Node has it on its contexts, without documenting it. */
function contextFloor(secureContext: unknown): number | undefined {
  const { context } = (secureContext ?? {}) as { context?: { getMinProto?: () => unknown } }
  const version = context?.getMinProto?.()
  return typeof version === 'number' ? version : undefined
}
