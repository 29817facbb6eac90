interface Versions {
  readonly node?: string
  readonly bun?: string
  readonly deno?: string
}

/**
 * Throws in a Node that is too old, when the package is loaded: later it would fail in the middle of a call, for
 * want of a function.
 *
 * Runtimes that only say which Node they resemble pass.
 */
export function mustBeSupportedNode(versions: Versions | undefined = globalThis.process?.versions): void {
  if (versions?.node === undefined || versions.bun !== undefined || versions.deno !== undefined) return
  const major = Number.parseInt(versions.node, 10)
  if (major > 22 || (major === 22 && Number(versions.node.split('.')[1]) >= 19)) return
  throw new Error(
    `Cannot load @tokenlane/core: it needs Node 22.19 or later, and this is Node ${versions.node}. Update Node, or ` +
      'the image or service that chooses it',
  )
}

/**
 * Throws in a runtime without `URL.parse`, when the package is loaded: in Cloudflare Workers with a compatibility date
 * before 2022-10-31.
 */
export function mustHaveUrlParse(url: { readonly parse?: unknown } = URL): void {
  if (typeof url.parse === 'function') return
  throw new Error(
    'Cannot load @tokenlane/core: this runtime has no `URL.parse`. In a Cloudflare Worker, set `compatibility_date` to ' +
      '2022-10-31 or later',
  )
}
