import type { ManagerStatus, TokenlaneError, TokenlaneEvent } from '@tokenlane/core'
import type { ManagerConfiguration } from '@tokenlane/core/adapter'
import type { CallFacts } from './call.ts'
import type { PackageFacts } from './packages.ts'
import type { ServerFacts } from './server.ts'
import type { SharedFacts } from './shared.ts'
import type { TlsFacts } from './tls-settings.ts'
import type { TokenFacts } from './token.ts'

/** What was looked at, from which every check draws its findings. Holds no secret, token, query or body. */
export interface Facts {
  readonly now: Date
  /** The variables that change how Node connects. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Options that were refused. The manager could not be created, so the network was not looked at. */
  readonly refused: readonly TokenlaneError[]
  readonly configuration: ManagerConfiguration | undefined
  readonly status: ManagerStatus | undefined
  /** What the manager reported while it was looked at. */
  readonly events: readonly TokenlaneEvent[]
  readonly servers: readonly ServerFacts[]
  readonly tokens: readonly TokenFacts[]
  readonly call: CallFacts | undefined
  readonly shared: readonly SharedFacts[]
  readonly tls: readonly TlsFacts[]
  readonly packages: readonly PackageFacts[]
  /** Days that a secret must have left; `undefined` if it was not asked for. */
  readonly secretDays: number | undefined
}
