import { playScene, type PlayOptions, type SceneReport } from './play-scene.ts'
import type { Scene } from './scenes.ts'

/** What `tokenlane judge --json` prints. */
export interface Exam {
  /** Whether a scene was graded, and no graded scene has a finding. */
  readonly ok: boolean
  /** `null` if no scene was graded. */
  readonly grade: Grade | null
  readonly seed: number
  readonly scenes: readonly SceneReport[]
}

/**
 * Plays the scenes one by one and returns what they found. Ends after the first scene if the program made no calls.
 *
 * @param tell - gets each report as soon as it is there.
 */
export async function examine(
  scenes: readonly Scene[],
  options: PlayOptions,
  tell: (report: SceneReport) => void,
): Promise<Exam> {
  const reports: SceneReport[] = []
  for (const scene of scenes) {
    const report = await playScene(scene, options)
    tell(report)
    reports.push(report)
    if (!hasCalled(reports)) break
  }
  const grade = gradeOf(reports)
  return { ok: grade === 'A', grade, seed: options.seed, scenes: reports }
}

export function hasCalled(reports: readonly SceneReport[]): boolean {
  return reports.some(({ seen }) => seen.calls + seen.tokenRequests > 0)
}

/**
 * `A`: no finding. `B`: warnings only. `C`: errors in at most a quarter of the graded scenes. `D`: in at most half of them. `F`: in
 * more.
 */
export type Grade = 'A' | 'B' | 'C' | 'D' | 'F'

/** Returns the grade of a program; `null` if no scene was graded. How often a rule was broken in a scene does not count. */
export function gradeOf(reports: readonly SceneReport[]): Grade | null {
  const graded = reports.filter(({ notGraded }) => notGraded === undefined)
  if (graded.length === 0) return null
  const wrong =
    graded.filter(({ findings }) => findings.some(({ severity }) => severity === 'error')).length /
    graded.length
  if (wrong > 1 / 2) return 'F'
  if (wrong > 1 / 4) return 'D'
  if (wrong > 0) return 'C'
  return graded.some(({ findings }) => findings.length > 0) ? 'B' : 'A'
}
