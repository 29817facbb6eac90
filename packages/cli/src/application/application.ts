import type { TokenlaneError, TokenManager } from '@tokenlane/core'
import type { configurationOf, Inspection } from '@tokenlane/core/adapter'

import type { Connections } from './connections.ts'

export type ManagerConfiguration = NonNullable<ReturnType<typeof configurationOf>>

export interface Application {
  /** Where its token manager comes from: the path of a module, or `environment variables`. */
  readonly from: string
  /** A file of the application, from which Node resolves the application's packages. */
  readonly file: string
  /** The variable or flag of each option that was read from one, by the option's path. */
  readonly names: ReadonlyMap<string, string>
  /** Variables that are not set, of APIs whose issuers have theirs: calls to these APIs get no token. */
  readonly missingApis: readonly string[]
  readonly tokens: TokenManager
  readonly configuration: ManagerConfiguration
  readonly inspection: Inspection
  readonly exports: Readonly<Record<string, unknown>>
  /** Returns the connections that this process has opened since the module began to load. */
  readonly connections: () => readonly Connections[]
}

/** An application that Tokenlane refused while it loaded. */
export interface RefusedApplication extends Pick<Application, 'from' | 'file' | 'names' | 'missingApis'> {
  /** One error for each option that is wrong, or for each issuer that gave no token. */
  readonly refused: readonly TokenlaneError[]
  /** Set if its module failed because it waits for a Redis that cannot be used. */
  readonly redis?: RedisFailure
}

/** A connection to Redis with whose error the application's module failed. */
interface RedisFailure {
  readonly connection: Connections
  /** What a command that needs the token manager says. */
  readonly message: string
}

export interface Source {
  readonly module?: string | undefined
  /** How long the module may take to load, in seconds. */
  readonly loadTimeout?: number
  /** Whether a token manager without a store of its own keeps its tokens on disk, for the next run. */
  readonly cache?: true
  readonly authUrl?: string
  readonly apiUrl?: string
  readonly weblinkAuthUrl?: string
  readonly weblinkUrl?: string
}
