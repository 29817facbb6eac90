import type { SceneReport } from './play-scene.ts'

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
