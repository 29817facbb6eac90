import type { ManagerStatus, TokenlaneError, TokenlaneEvent } from '@tokenlane/core'
import type { ManagerConfiguration } from '../application/application.ts'
import type { EnvFileFacts } from '../own-process.ts'
import type { ResourceFacts } from './audience.ts'
import type { AxiosUse } from './axios.ts'
import type { CallFacts } from './call.ts'
import type { ExtraAuthorities } from './extra-authorities.ts'
import type { PackageFacts } from './packages.ts'
import type { ServerFacts } from './server.ts'
import type { SharedFacts } from './shared.ts'
import type { TlsFacts } from './tls-settings.ts'
import type { TokenFacts } from './token.ts'

/** What the doctor saw. Every check derives its findings from it. Holds no secret, token, query or body. */
export interface Facts {
  readonly now: Date
  /** Errors of refused options. After one, the manager is not created and the network is not looked at. */
  readonly refused: readonly TokenlaneError[]
  /** Variables that are not set, of APIs whose issuers have theirs. */
  readonly missingApis: readonly string[]
  readonly configuration: ManagerConfiguration
  readonly status: ManagerStatus
  /** The events of the manager while the doctor looked at it. */
  readonly events: readonly TokenlaneEvent[]
  readonly servers: readonly ServerFacts[]
  readonly tokens: readonly TokenFacts[]
  readonly call: CallFacts | undefined
  readonly resources: readonly ResourceFacts[]
  readonly shared: readonly SharedFacts[]
  readonly tls: readonly TlsFacts[]
  readonly axios: AxiosUse
  readonly extraAuthorities: ExtraAuthorities | undefined
  readonly envFile: EnvFileFacts | undefined
  readonly packages: readonly PackageFacts[]
  /** A secret with this many days left, or fewer, is reported; `undefined` without `--secret-days`. */
  readonly secretDays: number | undefined
}
