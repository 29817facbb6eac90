import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Finding, IssuerSettings, JournalEntry, Realm, Sandbox } from '@tokenlane/sandbox'

import { callers, environmentOf, type Program, type ProgramFiles, startProgram } from './program.ts'
import { givenUpCalls } from './given-up.ts'
import { realms, type Scene, type Seen } from './scenes.ts'

/** A finding with the requests that show it. In an exam, nothing is a note: nobody types a command. */
export interface SceneFinding extends Omit<Finding, 'evidence'> {
  readonly evidence: readonly JournalEntry[]
}

export interface SceneReport {
  readonly name: string
  readonly title: string
  /** Whether the scene is graded, and has no finding. */
  readonly ok: boolean
  /** Why the scene is not graded; `undefined` if it is. */
  readonly notGraded?: string
  readonly findings: readonly SceneFinding[]
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
  const [ca, general, weblink] = ['ca.pem', 'general.json', 'weblink.json'].map((name) => join(folder, name))
  const files = { ca, general, weblink } as ProgramFiles
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const issuer = { metadata: true, clientAuthentication: options.authentication }
  const sandbox = await startSandbox({
    caFile: files.ca,
    seed: options.seed,
    // some calls are always on their way when something happens
    delays: { min: 1, max: 50 },
    issuers: { general: issuer, weblink: issuer },
    records: 9_999_999,
    journalSize: 1_000_000,
    ...scene.sandbox,
  })
  let rewriting: NodeJS.Timeout | undefined
  try {
    const { control } = sandbox
    for (const realm of realms) control.slowIssuer(realm, 100)
    if (scene.isFromStart) playSteps(scene, sandbox)
    const variables = { ...environmentOf(sandbox, files, scene.name), ...scene.variables }
    if (scene.rotates) for (const realm of realms) control.rotateSecret(realm, { overlap: true })
    rewriting = keepCredentials(sandbox, files)
    const program = await startProgram(options.command, variables)
    try {
      const report = await watch(scene, sandbox, program)
      return { ...report, duration: Math.round(performance.now() - start) }
    } finally {
      await program.stop()
    }
  } finally {
    clearInterval(rewriting)
    await sandbox.close()
    removeFolder()
    process.off('exit', removeFolder)
  }
}

function playSteps({ steps }: Scene, sandbox: Sandbox): void {
  sandbox.control.playScenario({ steps: typeof steps === 'function' ? steps(sandbox) : steps })
}

async function watch(
  scene: Scene,
  sandbox: Sandbox,
  program: Program,
): Promise<Omit<SceneReport, 'duration'>> {
  const { control } = sandbox
  const before: JournalEntry[] = []
  const own: Finding[] = []
  const { pause, until, answers, inUse } = patienceWith(sandbox, program)
  let [ended, impossible, unseen]: (string | undefined)[] = []
  try {
    const isCalling = await until(() => requests(sandbox) > 0, startUp)
    // the issuers may refuse it from the start
    const canSucceed = !(scene.isFromStart && scene.isHopeless)
    // that the program is in full swing; on a slow machine, that it has made the requests which a grade needs
    if (isCalling && canSucceed && !(await answers(2 * callers, 10_000)))
      await until(() => requests(sandbox) >= fewestRequests, startUp)
    const { issuers } = control.state()
    const readsFile = realms.filter((realm) => issuers[realm].secretInUse === 'newest')
    const begunAt = new Date()
    if (!scene.isFromStart) {
      before.push(...control.journal())
      control.clearJournal()
      playSteps(scene, sandbox)
    }
    await pause(scene.lasts)
    // before the recovery, which makes everything as it was
    const seen: Seen = { sandbox, before, begunAt, inUse: inUse(), readsFile }
    impossible = scene.impossible?.(seen)
    unseen = scene.unseen?.(seen)
    own.push(...[scene.broken?.(seen) ?? []].flat())
    if (impossible === undefined && !scene.isHopeless) own.push(...(await recover()))
  } catch (error) {
    if (!program.ended.aborted) throw error
    ended = program.ended.reason as string
  }
  const exempt = new Set([...(scene.exempt ?? []), ...(scene.isHopeless ? ['work-lost', 'given-up'] : [])])
  // a client that offers nothing newer makes no call
  const lenient = new Set(['old-tls', ...(scene.lenient ?? [])])
  const journal = [...before, ...control.journal()]
  const entries = new Map(journal.map((entry) => [entry.id, entry]))
  const found = [...control.verdict().findings, ...givenUpCalls(journal), ...own]
  const findings = found
    .filter(({ rule }) => !exempt.has(rule))
    .map(({ rule, severity, message, fix, evidence, count }): SceneFinding => ({
      rule,
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

  /** Ends all faults, and gives the program time to succeed again. */
  async function recover(): Promise<Finding[]> {
    const lastId = control.journal({ limit: 1 })[0]?.id ?? 0
    control.stopScenario()
    control.restoreIssuer()
    control.restoreApi()
    for (const realm of realms) control.setRatePolicy(realm, null)
    if (await answers(1, recovery)) {
      await answers(20, 1_500)
      await until(() => control.verdict().findings.every(({ rule }) => rule !== 'work-lost'), repair)
      return []
    }
    return [
      {
        rule: 'no-recovery',
        severity: 'error',
        message: `No call succeeded in the ${recovery / 1_000} s after the fault ended`,
        fix: 'Renew a token that an API refuses. If the issuer refuses the credentials, re-read the file named by GENERAL_CREDENTIALS_FILE or WEBLINK_CREDENTIALS_FILE, or try the next ones. Wait seconds, not minutes, between failed token requests.',
        evidence: control.journal({ after: lastId, limit: 10 }).map(({ id }) => id),
        count: 1,
      },
    ]
  }
}

const requests = ({ control }: Sandbox): number => {
  const { apis, issuers } = control.counts()
  return apis.general.calls + apis.weblink.calls + issuers.general.requests + issuers.weblink.requests
}

function whyNotGraded({ isHopeless }: Scene, all: number, ended: string | undefined): string | undefined {
  if (ended !== undefined)
    return `the program exited early (${ended}), after ${all} ${all === 1 ? 'request' : 'requests'}`
  if (all === 0) return 'the program made no calls'
  // where every client is refused, one that remembers that asks rarely
  return !isHopeless && all < fewestRequests
    ? `only ${all} requests were made; ${fewestRequests} are needed`
    : undefined
}

/** Returns what waits for a program, for at most so many milliseconds, until it ends; a wait says whether it was in vain. */
function patienceWith({ control }: Sandbox, { ended }: Program) {
  const answered = (api: Realm): number => control.counts().apis[api].answered
  const inUse = (): readonly Realm[] => realms.filter((api) => answered(api) > 0)
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: ended })
  const until = async (holds: () => boolean, ms: number): Promise<boolean> => {
    const end = performance.now() + ms
    while (!holds()) {
      if (performance.now() > end) return false
      await pause(20)
    }
    return true
  }
  return {
    inUse,
    pause,
    until,
    answers: async (more: number, ms: number): Promise<boolean> => {
      const from = { general: answered('general'), weblink: answered('weblink') }
      const used = inUse()
      const enough = (api: Realm): boolean => answered(api) >= from[api] + more
      return until(() => (used.length > 0 ? used.every(enough) : realms.some(enough)), ms)
    },
  }
}

/** Keeps the newest credentials in the files, which it replaces by a rename, so that no program reads half a file. */
function keepCredentials(sandbox: Sandbox, files: ProgramFiles): NodeJS.Timeout {
  const written = new Map<Realm, string>()
  const write = (): void => {
    for (const realm of realms) {
      const text = JSON.stringify(sandbox.credentials[realm])
      if (written.get(realm) === text) continue
      writeFileSync(`${files[realm]}.new`, text, { mode: 0o600 })
      renameSync(`${files[realm]}.new`, files[realm])
      written.set(realm, text)
    }
  }
  write()
  return setInterval(write, 20)
}
