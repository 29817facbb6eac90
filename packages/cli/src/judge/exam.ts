import { gradeOf, type Grade } from './grade.ts'
import { playScene, type PlayOptions, type SceneReport } from './play-scene.ts'
import type { Scene } from './scene.ts'

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

/** Returns whether the program sent any request. */
export function hasCalled(reports: readonly SceneReport[]): boolean {
  return reports.some(({ seen }) => seen.calls + seen.tokenRequests > 0)
}
