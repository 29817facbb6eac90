import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Finding, IssuerSettings, JournalEntry, Realm, Sandbox } from '@tokenlane/sandbox'

import { callers, environmentOf, type ProgramFiles } from './environment.ts'
import { givenUpCalls } from './given-up.ts'
import { startProgram, type Program } from './program.ts'
import type { Scene, Stage } from './scene.ts'

/** A finding with the requests that show it. */
export interface SceneFinding extends Omit<Finding, 'evidence'> {
  readonly evidence: readonly JournalEntry[]
}

/** What a scene found. */
export interface SceneReport {
  readonly name: string
  readonly title: string
  /** Whether the scene is graded, and has no finding. */
  readonly ok: boolean
  /** Why the scene is not graded; `undefined` if it is. */
  readonly notGraded?: string
  readonly findings: readonly SceneFinding[]
  /** How many calls and token requests arrived. */
  readonly seen: { readonly calls: number; readonly tokenRequests: number }
  /** How long it took, in milliseconds. */
  readonly duration: number
  /** The end of what the program wrote, if it exited early or made no calls. */
  readonly output?: string
}

export interface PlayOptions {
  readonly command: readonly string[]
  readonly seed: number
  readonly authentication: NonNullable<IssuerSettings['clientAuthentication']>
}

/** How long a program may take to its first request, in milliseconds. */
const startUp = 30_000
/** How long a program may take to succeed again when a fault is over, in milliseconds. */
const recovery = 10_000
/** How long a program has to repeat refused calls when a fault is over, in milliseconds. */
const repair = 5_000
/** A scene with fewer calls and token requests is not graded. */
const fewestRequests = 20

/** Plays one scene in a sandbox of its own, with a process of its own, and returns what it found. */
export async function playScene(scene: Scene, options: PlayOptions): Promise<SceneReport> {
  // an OAuth server loads slowly, and wrong arguments do not need it
  const { startSandbox } = await import('@tokenlane/sandbox')
  const start = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'tokenlane-judge-'))
  let sandbox: Sandbox | undefined
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  const atExit = (): void => {
    // removes the sandbox's own files at once; nothing waits for its servers any more
    void sandbox?.close()
    removeFolder()
  }
  process.once('exit', atExit)
  const ca = join(folder, 'ca.pem')
  const { assertionLifetime: lifetime } = scene
  const issuer = {
    metadata: true,
    clientAuthentication: options.authentication,
    workloadIdentity: lifetime !== undefined,
  }
  sandbox = await startSandbox({
    caFile: ca,
    seed: options.seed,
    // some calls are always on their way when something happens
    delays: { min: 1, max: 50 },
    issuers: { general: issuer, weblink: issuer },
    records: 9_999_999,
    journalSize: 1_000_000,
    ...scene.sandbox,
  })
  try {
    const { control } = sandbox
    for (const realm of ['general', 'weblink'] as const) control.slowIssuer(realm, 100)
    const files: ProgramFiles = {
      ca,
      general: join(folder, 'general.json'),
      weblink: join(folder, 'weblink.json'),
      assertions:
        lifetime === undefined
          ? undefined
          : {
              general: control.projectAssertion('general', { lifetime }),
              weblink: control.projectAssertion('weblink', { lifetime }),
            },
    }
    scene.prepare?.(sandbox)
    writeCredentials(sandbox, files)
    const variables = { ...environmentOf(sandbox, files, scene.name), ...scene.variables }
    const program = await startProgram(options.command, variables)
    try {
      const report = await watch(scene, sandbox, files, program)
      return { ...report, duration: Math.round(performance.now() - start) }
    } finally {
      await program.stop()
    }
  } finally {
    await sandbox.close()
    removeFolder()
    process.off('exit', atExit)
  }
}

/** Plays the scene while the program calls, and judges what arrived. */
async function watch(
  scene: Scene,
  sandbox: Sandbox,
  files: ProgramFiles,
  program: Program,
): Promise<Omit<SceneReport, 'duration'>> {
  const { control } = sandbox
  const own: Finding[] = []
  const stage = createStage(sandbox, files, program, own)
  let ended: string | undefined
  let impossible: string | undefined
  let unseen: string | undefined
  try {
    await stage.until(() => requests(sandbox) > 0, startUp)
    await playOn(stage, scene)
    // before the recovery, which makes everything as it was
    impossible = scene.impossible?.(stage)
    unseen = scene.unseen?.(stage)
    if (scene.hopeless !== true) await recover(stage, own)
  } catch (error) {
    if (!program.ended.aborted) throw error
    ended = program.ended.reason as string
  }
  const exempt = new Set([...(scene.exempt ?? []), ...(scene.hopeless ? ['work-lost', 'given-up'] : [])])
  // a client that offers nothing newer makes no call
  const lenient = new Set(['old-tls', ...(scene.lenient ?? [])])
  const journal = [...stage.before, ...control.journal()]
  const entries = new Map(journal.map((entry) => [entry.id, entry]))
  const found = [...control.verdict().findings, ...givenUpCalls(journal), ...own]
  const findings = found
    .filter(({ rule }) => !exempt.has(rule))
    .map(({ rule, severity, message, fix, evidence, count }): SceneFinding => ({
      rule,
      // here nobody types a command
      severity: lenient.has(rule) ? 'warning' : severity === 'note' ? 'error' : severity,
      message,
      fix,
      evidence: evidence.flatMap((id) => entries.get(id) ?? []),
      count,
    }))
    .toSorted((one, other) => one.severity.localeCompare(other.severity))
  const notGraded =
    whyNotGraded(scene, requests(sandbox), ended) ?? impossible ?? (findings.length > 0 ? undefined : unseen)
  const { apis, issuers } = control.counts()
  return {
    name: scene.name,
    title: scene.title,
    ok: notGraded === undefined && findings.length === 0,
    ...(notGraded !== undefined && { notGraded }),
    findings: notGraded === undefined ? findings : [],
    seen: {
      calls: apis.general.calls + apis.weblink.calls,
      tokenRequests: issuers.general.requests + issuers.weblink.requests,
    },
    ...((ended !== undefined || requests(sandbox) === 0) && { output: program.output() }),
  }
}

async function playOn(stage: Stage, scene: Scene): Promise<void> {
  if (scene.play !== undefined) return scene.play(stage)
  await stage.begin()
  stage.sandbox.control.playScenario({ steps: scene.steps })
  await stage.pause(scene.lasts)
}

/** Ends all faults, and gives the program time to succeed again. */
async function recover(stage: Stage, own: Finding[]): Promise<void> {
  const { control } = stage.sandbox
  const lastId = control.journal({ limit: 1 })[0]?.id ?? 0
  control.restoreIssuer()
  control.restoreApi()
  for (const realm of ['general', 'weblink'] as const) control.setRatePolicy(realm, null)
  if (!(await stage.answers(1, recovery))) {
    const evidence = control.journal({ after: lastId, limit: 10 }).map(({ id }) => id)
    own.push({
      rule: 'no-recovery',
      severity: 'error',
      message: `No call succeeded in the ${recovery / 1_000} s after the fault ended`,
      fix: 'Renew a token that an API refuses. If the issuer refuses the credentials, re-read the file named by GENERAL_CREDENTIALS_FILE or WEBLINK_CREDENTIALS_FILE, or try the next ones. Wait seconds, not minutes, between failed token requests.',
      evidence,
      count: 1,
    })
    return
  }
  await stage.answers(20, 1_500)
  await stage.until(() => control.verdict().findings.every(({ rule }) => rule !== 'work-lost'), repair)
}

const requests = ({ control }: Sandbox): number => {
  const { apis, issuers } = control.counts()
  return apis.general.calls + apis.weblink.calls + issuers.general.requests + issuers.weblink.requests
}

function whyNotGraded({ hopeless }: Scene, all: number, ended: string | undefined): string | undefined {
  if (ended !== undefined)
    return `the program exited early (${ended}), after ${all} ${all === 1 ? 'request' : 'requests'}`
  if (all === 0) return 'the program made no calls'
  // where every client is refused, one that remembers that asks rarely
  if (hopeless !== true && all < fewestRequests)
    return `only ${all} requests were made; ${fewestRequests} are needed`
  return undefined
}

function createStage(sandbox: Sandbox, files: ProgramFiles, { ended }: Program, own: Finding[]): Stage {
  const answered = (api: Realm): number => sandbox.control.counts().apis[api].answered
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: ended })
  const until = async (holds: () => boolean, patience: number): Promise<boolean> => {
    const end = performance.now() + patience
    while (!holds()) {
      if (performance.now() > end) return false
      await pause(20)
    }
    return true
  }
  const before: JournalEntry[] = []
  const inUse = (): readonly Realm[] => (['general', 'weblink'] as const).filter((api) => answered(api) > 0)
  return {
    sandbox,
    answered,
    pause,
    until,
    inUse,
    before,
    async begin() {
      await this.answers(2 * callers, 10_000)
      before.push(...sandbox.control.journal())
      sandbox.control.clearJournal()
    },
    writeCredentials: () => writeCredentials(sandbox, files),
    assertionFile: (issuer) => files.assertions?.[issuer] ?? '',
    async answers(more, patience) {
      const from = { general: answered('general'), weblink: answered('weblink') }
      const used = inUse()
      const apis = used.length > 0 ? used : (['general', 'weblink'] as const)
      const enough = (api: Realm): boolean => answered(api) >= from[api] + more
      return until(() => (used.length > 0 ? apis.every(enough) : apis.some(enough)), patience)
    },
    report: (finding) => own.push(finding),
  }
}

/** Replaces the files by a rename, so that no program reads half a file. */
function writeCredentials({ credentials, control }: Sandbox, files: ProgramFiles): void {
  const { issuers } = control.state()
  for (const realm of ['general', 'weblink'] as const) {
    const { clientId, clientSecret } = credentials[realm]
    const client = {
      clientId,
      ...(issuers[realm].acceptedSecrets > 0 && { clientSecret }),
      assertionFile: files.assertions?.[realm],
    }
    writeFileSync(`${files[realm]}.new`, JSON.stringify(client), { mode: 0o600 })
    renameSync(`${files[realm]}.new`, files[realm])
  }
}
