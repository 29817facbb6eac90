interface Process {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly execArgv?: readonly string[]
  readonly versions: Readonly<Record<string, string | undefined>>
}

/** A proxy that the environment names for `https:` URLs. */
export interface EnvironmentProxy {
  /** The variable, such as `HTTPS_PROXY`. */
  readonly variable: string
  /** Host and port, without a user name or password; empty if the value has no scheme. */
  readonly place: string
  /** Whether the runtime's `fetch` goes through it. */
  readonly used: boolean
}

/**
 * Returns the proxy that the environment sets for `url`, and whether the runtime's `fetch` uses it.
 *
 * Node uses it with `NODE_USE_ENV_PROXY=1` or `--use-env-proxy`, from 22.21 and 24.0 on. Deno and Bun always do.
 */
export function environmentProxy(
  url: URL,
  process: Process | undefined = globalThis.process,
): EnvironmentProxy | undefined {
  if (url.protocol !== 'https:' || process === undefined) return undefined
  const { env } = process
  const variable = ['https_proxy', 'HTTPS_PROXY'].find((name) => env[name])
  if (!variable || isExempt(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return undefined
  const place = URL.parse(env[variable] as string)?.host ?? ''
  return { variable, place, used: usesEnvironment(process) }
}

function usesEnvironment({ env, execArgv = [], versions }: Process): boolean {
  if (versions['bun'] !== undefined || versions['deno'] !== undefined) return true
  const [major = 0, minor = 0] = (versions['node'] ?? '').split('.').map(Number)
  if (major === 22 && minor < 21) return false
  const flags = [...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)]
  return env['NODE_USE_ENV_PROXY'] === '1' || flags.includes('--use-env-proxy')
}

/** Whether `NO_PROXY` names this host: itself, a domain above it, or `*`, each with a port or without. */
function isExempt({ hostname, port }: URL, noProxy: string): boolean {
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = '', onlyPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? []
      if (onlyPort !== undefined && onlyPort !== (port || '443')) return false
      return name === '' || hostname === name || hostname.endsWith(`.${name}`)
    })
}
