import type { Finding, JournalEntry, Realm, Sandbox, SandboxOptions, Scenario } from '@tokenlane/sandbox'

/** What was seen of a program, before the sandbox recovers. */
export interface Seen {
  readonly sandbox: Sandbox
  readonly before: readonly JournalEntry[]
  readonly begunAt: Date
  /** The APIs that have answered a call of the program. */
  readonly inUse: readonly Realm[]
  /** The issuers to which the program sends the secret of its file, and not that of the environment. */
  readonly readsFile: readonly Realm[]
}

/** What happens to the service while a program calls it: a scenario of the sandbox, and what is asked of the program. */
export interface Scene {
  readonly name: string
  readonly title: string
  readonly steps: Scenario['steps'] | ((sandbox: Sandbox) => Scenario['steps'])
  /** How long the program is watched from then on, in milliseconds. */
  readonly lasts: number
  /** Whether the steps come before the program starts, and what it does until it is in full swing counts. */
  readonly isFromStart?: true
  readonly sandbox?: SandboxOptions
  /** Variables whose values are others than in every scene. */
  readonly variables?: Readonly<Record<string, string>>
  /** Whether secrets are rotated: then the file has another one from the start, so that it shows which one the program sends. */
  readonly rotates?: true
  /** Rules that do not count here, because the scene itself breaks them. */
  readonly exempt?: readonly string[]
  readonly lenient?: readonly string[]
  /** Whether calls can never succeed, so that none is lost. */
  readonly isHopeless?: true
  /** Returns a finding that no rule of the sandbox makes. */
  readonly broken?: (seen: Seen) => Finding | undefined
  /** Returns why the scene could not be played with this program; `undefined` if it was. */
  readonly impossible?: (seen: Seen) => string | undefined
  /** Returns why nothing can be said about a program that broke no rule; `undefined` if something can. */
  readonly unseen?: (seen: Seen) => string | undefined
}
