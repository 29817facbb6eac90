import type { Finding, JournalEntry, Realm, Sandbox, SandboxOptions, ScenarioStep } from '@tokenlane/sandbox'

/** What a scene plays with while the program makes its calls. */
export interface Stage {
  readonly sandbox: Sandbox
  /** What arrived before the scene began. */
  readonly before: readonly JournalEntry[]
  /** Waits until the program is in full swing, and forgets what it did until then: that is another scene's matter. */
  begin(): Promise<void>
  /** Writes the newest credentials into the files that the program may read. */
  writeCredentials(): void
  /** Returns the file with the assertion for an issuer, in a scene with one. */
  assertionFile(issuer: Realm): string
  /** Returns the APIs that have answered a call of the program. */
  inUse(): readonly Realm[]
  /** Returns how many calls an API has answered since the scene began. */
  answered(api: Realm): number
  pause(ms: number): Promise<void>
  /** Waits until something holds, for `patience` milliseconds at most. Returns whether it holds. */
  until(holds: () => boolean, patience: number): Promise<boolean>
  /** Waits until each API in use has answered `more` calls, for `patience` milliseconds at most. Returns whether they have. */
  answers(more: number, patience: number): Promise<boolean>
  report(finding: Finding): void
}

/** What happens to the service while a program calls it: a scenario of the sandbox, or acts that wait for the program. */
export type Scene = SceneRules &
  (
    | {
        /** What the sandbox does once the program is in full swing. */
        readonly steps: readonly ScenarioStep[]
        /** How long the program is watched from then on, in milliseconds. */
        readonly lasts: number
        readonly play?: undefined
      }
    | { readonly play: (stage: Stage) => Promise<void> }
  )

interface SceneRules {
  readonly name: string
  /** What happens, in a few words. */
  readonly title: string
  /** How the sandbox is started. */
  readonly sandbox?: SandboxOptions
  /**
   * How long an assertion lives that the program gets in a file, in milliseconds. The file is replaced at four fifths of that.
   * A scene with one is played only by its name.
   */
  readonly assertionLifetime?: number
  /** Variables whose values are others than in every scene. */
  readonly variables?: Readonly<Record<string, string>>
  /** Rules that do not count here, because the scene itself breaks them. */
  readonly exempt?: readonly string[]
  /** Rules that are a warning here. */
  readonly lenient?: readonly string[]
  /** Whether calls can never succeed, so that none is lost. */
  readonly hopeless?: true
  /** Acts before the program starts. */
  readonly prepare?: (sandbox: Sandbox) => void
  /** Returns, after `play`, why the scene could not be played with this program; `undefined` if it was. */
  readonly impossible?: (stage: Stage) => string | undefined
  /** Returns, after `play`, why nothing can be said about a program that broke no rule; `undefined` if something can. */
  readonly unseen?: (stage: Stage) => string | undefined
}
