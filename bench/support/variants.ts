import { tokensFor, type TokenManager } from '@tokenlane/core'

/** One call of a client, with what a variant adds to it; ends when the body has been read. */
export type CallOnce = () => Promise<unknown>

/** Where a client calls, and with what. */
export interface Setting {
  /** Takes calls without a token. */
  readonly openUrl: string
  /** Takes calls with a token. */
  readonly url: string
  readonly authorization: string
  /** Without a rate policy. */
  readonly tokens: TokenManager
  /** With a rate policy that never binds. */
  readonly limited: TokenManager
}

/** The rows of the table, in order. A client leaves out what it does not have. */
export const variantNames = [
  'bare',
  'constant header',
  'wrapper by hand',
  'wrapper, p-queue',
  'Tokenlane',
  'Tokenlane, policy',
  'Tokenlane, installed',
  'axios-auth-refresh',
  '@badgateway/oauth2-client',
  'bare, POST',
  'wrapper by hand, POST',
  'Tokenlane, POST',
] as const

export type VariantName = (typeof variantNames)[number]

export type Variants = Readonly<Partial<Record<VariantName, CallOnce>>>

/** @param get makes a call through a variant of the client, and reads the response; so does `post`, with a body. */
export function variantsOf<Client>(
  { openUrl, url }: Setting,
  clients: Readonly<Partial<Record<VariantName, Client>>>,
  get: (client: Client, url: string) => Promise<unknown>,
  post: (client: Client, url: string) => Promise<unknown>,
): Variants {
  const variants = Object.entries(clients).flatMap(([name, client]): [string, CallOnce][] => {
    const at = name === 'bare' ? openUrl : url
    return [
      [name, () => get(client, at)],
      [`${name}, POST`, () => post(client, at)],
    ]
  })
  return Object.fromEntries(variants)
}

/** More calls at once than are ever made, and more in a window than any machine makes. */
const neverBinds = { limits: [{ quota: 1_000_000, window: 1_000 }], concurrency: 1_000 }

export async function settingAt(serviceUrl: string): Promise<Setting> {
  const url = `${serviceUrl}api/records/7?expand=lines`
  const manager = (ratePolicy?: typeof neverBinds): TokenManager =>
    tokensFor({
      tokenEndpoint: `${serviceUrl}token`,
      credentials: { clientId: 'client', clientSecret: 'secret' },
      allowInsecureLoopback: true,
      baseUrl: `${serviceUrl}api/`,
      ratePolicy,
    })
  const tokens = manager()
  const { value } = await tokens.getToken('default')
  const limited = manager(neverBinds)
  await limited.warmUp()
  return {
    openUrl: `${serviceUrl}open/records/7?expand=lines`,
    url,
    authorization: `Bearer ${value}`,
    tokens,
    limited,
  }
}

/** What is sent where a call has a body. */
export const body = { id: 7, name: 'A business record', lines: [1, 2, 3], total: 42.5 }
